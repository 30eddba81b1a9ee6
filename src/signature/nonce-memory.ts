import { Injectable } from '@nestjs/common';
import { Clock } from '../runtime/clock.js';

/** Capacity of a generation, as a multiple of the nonces that a tenant uses at its full rate in `rememberSeconds`. */
const HEADROOM = 2;
/** Smallest capacity of a generation, in nonces. */
const MIN_CAPACITY = 5_000;
/** Largest capacity of a generation, in nonces: a Set throws beyond it. */
const SET_CAPACITY = 2 ** 24;

interface Generations {
  startedAt: number;
  /** Capacity of the current generation, in nonces: that of the tenant's highest rate limit since it began. */
  capacity: number;
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
  private readonly tenants = new Map<string, Generations>();

  constructor(private readonly clock: Clock) {}

  isUsed(tenantId: string, nonce: string, rememberSeconds: number): boolean {
    const { current, previous } = this.generations(tenantId, rememberSeconds);
    return current.has(nonce) || previous.has(nonce);
  }

  /** @param perSecond the tenant's rate limit. A lower one reduces the capacity only from the next generation on. */
  claim(
    tenantId: string,
    nonce: string,
    rememberSeconds: number,
    perSecond: number,
  ): 'claimed' | 'used' | 'full' {
    if (this.isUsed(tenantId, nonce, rememberSeconds)) return 'used';
    const generations = this.generations(tenantId, rememberSeconds);
    generations.capacity = Math.max(generations.capacity, capacityOf(perSecond, rememberSeconds));
    if (generations.current.size >= generations.capacity) return 'full';
    generations.current.add(nonce);
    return 'claimed';
  }

  private generations(tenantId: string, rememberSeconds: number): Generations {
    const now = this.clock.unixSeconds();
    let generations = this.tenants.get(tenantId);
    if (!generations) {
      generations = { startedAt: now, capacity: 0, current: new Set(), previous: new Set() };
      this.tenants.set(tenantId, generations);
    }
    const age = now - generations.startedAt;
    if (age >= rememberSeconds) {
      generations.previous = age >= 2 * rememberSeconds ? new Set() : generations.current;
      generations.current = new Set();
      generations.capacity = 0;
      generations.startedAt = now;
    }
    return generations;
  }
}

/** The capacity of a generation of one tenant, in nonces. */
export function capacityOf(perSecond: number, rememberSeconds: number): number {
  return Math.min(SET_CAPACITY, Math.max(MIN_CAPACITY, HEADROOM * perSecond * rememberSeconds));
}
