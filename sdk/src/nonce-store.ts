/** Remembers used nonces. All instances of your callback server must share one store, such as a database or Redis. */
export interface NonceStore {
  /**
   * Claims a nonce atomically.
   * @param forgetAt Unix time in seconds after which the nonce may be forgotten
   * @param now Unix time in seconds
   * @returns true for the first use of the nonce, false for every later one
   * @throws if the store is unavailable; the callback is then refused with 503
   */
  claim(nonce: string, forgetAt: number, now: number): boolean | Promise<boolean>;
}

/** Enough for about 160 callbacks a second, because each nonce is kept for ten minutes. */
const MAX_NONCES = 100_000;

/**
 * Keeps at most `maxNonces` nonces (default: 100000) in the memory of one process. When the store is full, `claim`
 * throws, because a nonce that is forgotten too early could be replayed.
 */
export class MemoryNonceStore implements NonceStore {
  /** When each nonce may be forgotten, in Unix seconds; the oldest nonce comes first. */
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
