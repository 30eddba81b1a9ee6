import { Injectable } from '@nestjs/common';
import { Configuration } from '../config/configuration.js';
import { CroupierError } from '../errors/croupier-error.js';
import { BoundedLogger } from '../observability/bounded-logger.js';
import { failureText } from '../runtime/failure-text.js';
import { TenancyService } from '../tenancy/tenancy.service.js';
import type { Tenant } from '../tenancy/tenant.js';
import { NonceMemory } from './nonce-memory.js';
import { NonceStore } from './nonce.store.js';
import type { RateRecord } from './rate-record.js';
import { RedisNonces } from './redis-nonces.js';
import { TenantWindows } from './tenant-windows.js';

/**
 * Accepts each nonce of a tenant only once within twice the signature tolerance. Nonces are kept in Redis if it is
 * configured, else in the process. Without Redis, operators' nonces are also kept in the database, because operators'
 * calls are not idempotent. Contract, section 1, `X-Nonce`.
 *
 * The claim also counts the request towards the tenant's rate limit. A replayed nonce that Redis or this process
 * remembers is not counted, so that replayed requests do not use up the limit. Beyond the limit, the request is going to
 * be refused, and its nonce is not stored: otherwise refused requests would fill the stores.
 */
@Injectable()
export class Nonces {
  private readonly rememberSeconds: number;
  private readonly logger = new BoundedLogger('Signature');

  constructor(
    configuration: Configuration,
    private readonly tenancy: TenancyService,
    private readonly windows: TenantWindows,
    private readonly memory: NonceMemory,
    private readonly store: NonceStore,
    private readonly redis: RedisNonces,
  ) {
    // Timestamps are whole seconds, so a request may be accepted for up to one second longer than twice the tolerance.
    this.rememberSeconds = 2 * configuration.signatureToleranceSeconds + 1;
  }

  /**
   * Claims the nonce wherever the tenant's nonces are kept, unless the request is beyond the tenant's limit. Call it only
   * after the signature has been verified.
   * @returns the tenant's request count; undefined if the nonce was used before
   * @throws CroupierError REPLAY_PROTECTION_UNAVAILABLE if the memory is full, or Redis or the database cannot claim
   */
  async claim(tenant: Tenant, nonce: string): Promise<RateRecord | undefined> {
    const limit = this.tenancy.requestsPerSecond(tenant);
    if (this.redis.configured) return this.redis.claim(tenant.id, nonce, this.rememberSeconds, limit);
    if (this.memory.isUsed(tenant.id, nonce, this.rememberSeconds)) return undefined;
    const rate = await this.windows.count(tenant.id, limit);
    if (rate.requests > limit) return rate;
    if (!this.claimInProcess(tenant, nonce, limit)) return undefined;
    if (tenant.kind === 'OPERATOR' && !(await this.claimInDatabase(tenant, nonce))) return undefined;
    return rate;
  }

  private claimInDatabase(tenant: Tenant, nonce: string): Promise<boolean> {
    return this.store.claim(tenant.id, nonce, this.rememberSeconds).catch((error: unknown) => {
      this.logger.warn({
        msg: 'nonce not claimed, request refused: check PostgreSQL',
        error: failureText(error),
      });
      throw new CroupierError('REPLAY_PROTECTION_UNAVAILABLE');
    });
  }

  /** @throws CroupierError REPLAY_PROTECTION_UNAVAILABLE if the memory is full */
  private claimInProcess(tenant: Tenant, nonce: string, limit: number): boolean {
    const outcome = this.memory.claim(tenant.id, nonce, this.rememberSeconds, limit);
    if (outcome === 'full') {
      this.logger.warn({
        msg: 'nonce not claimed, request refused: the memory for the nonces of this tenant is full, use Redis',
        tenantId: tenant.id,
      });
      throw new CroupierError('REPLAY_PROTECTION_UNAVAILABLE');
    }
    return outcome === 'claimed';
  }
}
