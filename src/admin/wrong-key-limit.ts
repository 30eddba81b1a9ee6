import { Injectable } from '@nestjs/common';
import { rateLimited } from '../errors/try-later.js';
import { networkOf } from '../runtime/network.js';
import { Clock } from '../runtime/clock.js';
import { type CountingWindow, CountingWindows } from '../runtime/counting-windows.js';
import { sha256 } from '../runtime/digest.js';

/** Maximum number of wrong keys that an address may try in `WINDOW_MS`. */
const ATTEMPTS = 20;
const WINDOW_MS = 60_000;
/** How long a valid key is exempt from the limit, in milliseconds. */
const KNOWN_MS = 3_600_000;
/** Maximum number of remembered valid keys, which take about 1 MB. One more displaces the least recently used one. */
const MAX_KNOWN_KEYS = 10_000;

/**
 * Limits how many wrong keys an IPv4 address or an IPv6 network may try. An attempt is counted before the key is looked
 * up, so that concurrent guesses cannot exceed the limit. If the key is valid, the attempt is no longer counted; if the
 * look-up fails, it stays counted.
 *
 * A key that was valid within the last hour is exempt from the limit at every address. Otherwise, an attacker behind a
 * shared proxy could lock out the proxy's other users. An exempt key is still looked up, so a revoked key is refused at
 * once.
 */
@Injectable()
export class WrongKeyLimit {
  private readonly attempts: CountingWindows;
  /** The monotonic time at which the exemption of each valid key ends, by the key's hash. */
  private readonly known = new Map<string, number>();
  /** Look-ups in flight of keys that are not exempt, by the key's hash. */
  private readonly firstUses = new Map<string, Promise<void>>();

  constructor(private readonly clock: Clock) {
    this.attempts = new CountingWindows(() => clock.monotonicMs());
  }

  /**
   * Looks up a key, unless its address has to wait.
   * @param find returns undefined if the key is not valid
   * @throws CroupierError RATE_LIMITED, and what `find` throws
   */
  async lookUp<T>(address: string, key: string, find: () => Promise<T | undefined>): Promise<T | undefined> {
    const hash = sha256(key).toString('base64');
    // If the earlier look-up finds the key valid, the key is exempt when this request continues.
    const earlier = this.firstUses.get(hash);
    if (earlier) await earlier;
    if (this.isKnown(hash)) return this.confirm(hash, await find());
    const use = this.firstUse(address, hash, find);
    // The caller handles the rejection.
    const over = use.then(
      () => undefined,
      () => undefined,
    );
    this.firstUses.set(hash, over);
    try {
      return await use;
    } finally {
      if (this.firstUses.get(hash) === over) this.firstUses.delete(hash);
    }
  }

  private async firstUse<T>(address: string, hash: string, find: () => Promise<T | undefined>) {
    const window = this.reserve(address);
    const found = await find();
    if (found !== undefined) window.count -= 1;
    return this.confirm(hash, found);
  }

  private confirm<T>(hash: string, found: T | undefined): T | undefined {
    if (found === undefined) this.known.delete(hash);
    else this.exempt(hash);
    return found;
  }

  private exempt(hash: string): void {
    // A Map keeps the order of insertion. Deleting the key before it is set moves it to the end.
    this.known.delete(hash);
    this.known.set(hash, this.clock.monotonicMs() + KNOWN_MS);
    if (this.known.size > MAX_KNOWN_KEYS) this.known.delete(this.known.keys().next().value!);
  }

  private isKnown(hash: string): boolean {
    return (this.known.get(hash) ?? 0) > this.clock.monotonicMs();
  }

  /** @throws CroupierError RATE_LIMITED */
  private reserve(address: string): CountingWindow {
    const window = this.attempts.currentOrNew(networkOf(address), WINDOW_MS);
    if (window.count >= ATTEMPTS) throw rateLimited(this.attempts.secondsLeft(window));
    window.count += 1;
    return window;
  }
}
