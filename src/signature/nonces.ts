import { Injectable } from '@nestjs/common';
import { Configuration } from '../config/configuration.js';
import { CroupierError } from '../errors/croupier-error.js';
import { RedisConnection } from '../runtime/redis.js';
import type { Operator, Provider } from '../tenancy/tenant.js';
import { NonceMemory } from './nonce-memory.js';
import { NonceStore } from './nonce.store.js';

/**
 * Each nonce once for each tenant, remembered for twice the tolerance: in Redis where it is configured; else
 * in process, and for operators, whose calls are not idempotent by themselves, in the database as well.
 * Contract, section 1, `X-Nonce`.
 */
@Injectable()
export class Nonces {
  private readonly rememberSeconds: number;

  constructor(
    private readonly configuration: Configuration,
    private readonly memory: NonceMemory,
    private readonly store: NonceStore,
    private readonly redis: RedisConnection,
  ) {
    // The window is judged in whole seconds, so it is up to one second longer than twice the tolerance.
    this.rememberSeconds = 2 * configuration.signatureToleranceSeconds + 1;
  }

  /**
   * Claims the nonce: false where it was used before; a promise only where somebody outside has to be asked. Call it only
   * after the HMAC holds.
   * @throws CroupierError REPLAY_PROTECTION_UNAVAILABLE where nobody can tell; it fails closed
   */
  claim(tenant: Provider | Operator, nonce: string): boolean | Promise<boolean> {
    if (this.redis.client) return this.claimInRedis(tenant.id, nonce);
    const perSecond = tenant.requestsPerSecond ?? this.configuration.requestsPerSecond;
    switch (this.memory.claim(tenant.id, nonce, this.rememberSeconds, perSecond)) {
      case 'used':
        return false;
      case 'full':
        throw new CroupierError('REPLAY_PROTECTION_UNAVAILABLE');
      case 'claimed':
        return tenant.kind === 'PROVIDER' || this.store.claim(tenant.id, nonce, this.rememberSeconds);
    }
  }

  private async claimInRedis(tenantId: string, nonce: string): Promise<boolean> {
    const key = `croupier:nonce:${tenantId}:${nonce}`;
    try {
      return (await this.redis.client?.set(key, '1', 'EX', this.rememberSeconds, 'NX')) === 'OK';
    } catch {
      throw new CroupierError('REPLAY_PROTECTION_UNAVAILABLE');
    }
  }
}
