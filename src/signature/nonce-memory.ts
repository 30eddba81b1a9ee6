import { Injectable } from '@nestjs/common';
import { Clock } from '../runtime/clock.js';

/** Capacity for a tenant, as a multiple of the nonces that it uses at its full rate in `rememberSeconds`. */
const HEADROOM = 4;
/** Smallest capacity for a tenant, in nonces. */
const MIN_CAPACITY = 10_000;
/** Largest capacity for a tenant, in nonces: a Set throws beyond it. */
const SET_CAPACITY = 2 ** 24;

interface Generation {
  startedAt: number;
  current: Set<string>;
  previous: Set<string>;
}

/**
 * Remembers the nonces of each tenant in two generations. A generation lasts as long as a nonce must be remembered, and
 * only whole generations are forgotten, so no nonce is forgotten too early. A full memory refuses further nonces and
 * evicts none. Only verified tenants take memory.
 */
@Injectable()
export class NonceMemory {
  private readonly tenants = new Map<string, Generation>();

  constructor(private readonly clock: Clock) {}

  /**
   * Claims a nonce for a tenant.
   * @param perSecond the tenant's rate limit, which determines its capacity
   */
  claim(
    tenantId: string,
    nonce: string,
    rememberSeconds: number,
    perSecond: number,
  ): 'claimed' | 'used' | 'full' {
    const generation = this.generation(tenantId, rememberSeconds);
    if (generation.current.has(nonce) || generation.previous.has(nonce)) return 'used';
    const remembered = generation.current.size + generation.previous.size;
    if (remembered >= capacityOf(perSecond, rememberSeconds)) return 'full';
    generation.current.add(nonce);
    return 'claimed';
  }

  private generation(tenantId: string, rememberSeconds: number): Generation {
    const now = this.clock.unixSeconds();
    let generation = this.tenants.get(tenantId);
    if (!generation) {
      generation = { startedAt: now, current: new Set(), previous: new Set() };
      this.tenants.set(tenantId, generation);
    }
    const age = now - generation.startedAt;
    if (age >= rememberSeconds) {
      generation.previous = age >= 2 * rememberSeconds ? new Set() : generation.current;
      generation.current = new Set();
      generation.startedAt = now;
    }
    return generation;
  }
}

/**
 * The capacity for one tenant, in nonces.
 * @param perSecond the tenant's rate limit
 */
export function capacityOf(perSecond: number, rememberSeconds: number): number {
  return Math.min(SET_CAPACITY, Math.max(MIN_CAPACITY, HEADROOM * perSecond * rememberSeconds));
}
