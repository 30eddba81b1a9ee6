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

/**
 * The result of a claim. If Redis made the claim, `rate` is the tenant's request count; beyond the limit, the nonce is not
 * stored.
 */
export type NonceClaim = { readonly claimed: false } | { readonly claimed: true; readonly rate?: RateRecord };

/**
 * Accepts each nonce of a tenant only once within twice the signature tolerance. Nonces are kept in Redis if it is
 * configured, else in the process. Without Redis, operators' nonces are also kept in the database, because operators'
 * calls are not idempotent. Contract, section 1, `X-Nonce`.
 */
@Injectable()
export class Nonces {
  private readonly rememberSeconds: number;
  private readonly logger = new BoundedLogger('Signature');

  constructor(
    configuration: Configuration,
    private readonly tenancy: TenancyService,
    private readonly memory: NonceMemory,
    private readonly store: NonceStore,
    private readonly redis: RedisNonces,
  ) {
    // Timestamps are whole seconds, so a request may be accepted for up to one second longer than twice the tolerance.
    this.rememberSeconds = 2 * configuration.signatureToleranceSeconds + 1;
  }

  /**
   * Claims the nonce wherever the tenant's nonces are kept. Call it only after the signature has been verified.
   * @throws CroupierError REPLAY_PROTECTION_UNAVAILABLE if the memory is full, or Redis or the database cannot claim
   */
  async claim(tenant: Tenant, nonce: string): Promise<NonceClaim> {
    if (this.redis.configured) {
      const limit = this.tenancy.requestsPerSecond(tenant);
      const rate = await this.redis.claim(tenant.id, nonce, this.rememberSeconds, limit);
      return rate ? { claimed: true, rate } : { claimed: false };
    }
    const inProcess = this.claimInProcess(tenant, nonce);
    if (!inProcess.claimed || tenant.kind === 'PROVIDER') return inProcess;
    return { claimed: await this.claimInDatabase(tenant, nonce) };
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
  private claimInProcess(tenant: Tenant, nonce: string): NonceClaim {
    const limit = this.tenancy.requestsPerSecond(tenant);
    const outcome = this.memory.claim(tenant.id, nonce, this.rememberSeconds, limit);
    if (outcome === 'full') {
      this.logger.warn({
        msg: 'nonce not claimed, request refused: the memory for the nonces of this tenant is full, use Redis',
        tenantId: tenant.id,
      });
      throw new CroupierError('REPLAY_PROTECTION_UNAVAILABLE');
    }
    return { claimed: outcome === 'claimed' };
  }
}
