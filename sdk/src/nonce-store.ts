/** Remembers which nonces were used. Several instances of a provider share one, in a database or in Redis. */
export interface NonceStore {
  /**
   * True the first time a nonce comes, and false ever after, in one atomic step.
   * @param forgetAt Unix time in seconds, from which on the nonce need not be remembered
   * @throws when it cannot be known: the call is then refused with a 503
   */
  claim(nonce: string, forgetAt: number, now: number): boolean | Promise<boolean>;
}

/** Some 160 callbacks a second for ten minutes. */
const MAX_NONCES = 100_000;

/** Nonces in the memory of one process. Full, it refuses: what it forgot too early could be replayed. */
export class MemoryNonceStore implements NonceStore {
  /** When each may be forgotten; the oldest first. */
  private readonly forgetAtByNonce = new Map<string, number>();

  constructor(private readonly maxNonces = MAX_NONCES) {}

  claim(nonce: string, forgetAt: number, now: number): boolean {
    for (const [old, oldForgetAt] of this.forgetAtByNonce) {
      if (oldForgetAt > now) break;
      this.forgetAtByNonce.delete(old);
    }
    if (this.forgetAtByNonce.has(nonce)) return false;
    if (this.forgetAtByNonce.size >= this.maxNonces) {
      throw new Error(`all ${this.maxNonces} nonces that are remembered may still be replayed`);
    }
    this.forgetAtByNonce.set(nonce, forgetAt);
    return true;
  }
}
