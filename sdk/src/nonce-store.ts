/** Remembers used nonces. The instances of a provider must share one store, such as a database or Redis. */
export interface NonceStore {
  /**
   * Claims a nonce, in one atomic step.
   * @param forgetAt Unix time in seconds after which the nonce may be forgotten
   * @param now Unix time in seconds
   * @returns true for the first use of the nonce, false for every later one
   * @throws if the store is unavailable: the call is then refused with 503
   */
  claim(nonce: string, forgetAt: number, now: number): boolean | Promise<boolean>;
}

/** Enough for about 160 callbacks a second over ten minutes. */
const MAX_NONCES = 100_000;

/**
 * Nonces in the memory of one process, at most `maxNonces` (default: 100000). When it is full, `claim` throws, because
 * a nonce that is forgotten too early could be replayed.
 */
export class MemoryNonceStore implements NonceStore {
  /** When each nonce may be forgotten, oldest first. */
  private readonly forgetAtByNonce = new Map<string, number>();

  constructor(private readonly maxNonces = MAX_NONCES) {}

  claim(nonce: string, forgetAt: number, now: number): boolean {
    for (const [old, oldForgetAt] of this.forgetAtByNonce) {
      if (oldForgetAt > now) break;
      this.forgetAtByNonce.delete(old);
    }
    if (this.forgetAtByNonce.has(nonce)) return false;
    if (this.forgetAtByNonce.size >= this.maxNonces) {
      throw new Error(`the nonce store is full: ${this.maxNonces} nonces are not yet expired`);
    }
    this.forgetAtByNonce.set(nonce, forgetAt);
    return true;
  }
}
