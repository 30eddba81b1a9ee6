import { Injectable } from '@nestjs/common';
import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { monotonicMs } from '../runtime/clock.js';
import { isPublicAddress } from './address.js';

/** How many names the system resolves at a time: `dns.lookup` may use half of libuv's four threads. */
const AT_ONCE = 2;
/** A failure that takes longer is slow, in milliseconds: no name server has answered. */
const SLOW_MS = 1_000;

type Resolved = (
  error: NodeJS.ErrnoException | null,
  addresses: { address: string; family: number }[],
) => void;

/** Resolves a name to all of its addresses, as `dns.lookup` does. */
export type Resolve = (hostname: string, options: { all: true }, callback: Resolved) => void;

@Injectable()
export class HostResolver {
  /** The system's resolver; tests replace it. */
  resolve: Resolve = lookup;
  /** Those who wait for the result of each look-up under way. */
  private readonly waiting = new Map<string, Resolved[]>();
  /** The names whose last look-up was a slow failure. They are few, because administrators register them. */
  private readonly slow = new Set<string>();
  private underWay = 0;
  /** The end of the last look-up of a slow name. */
  private turn = Promise.resolve();

  /** A `lookup` for sockets. */
  readonly any: LookupFunction = (hostname, options, callback) => this.look(hostname, options, callback);

  /**
   * A `lookup` for sockets that refuses a name if any of its addresses is not public. The socket connects to a checked
   * address and does not resolve the name again, because the second result could differ (DNS rebinding).
   */
  readonly publicOnly: LookupFunction = (hostname, options, callback) =>
    this.look(hostname, options, callback, isPublicAddress);

  private look(
    hostname: string,
    options: Parameters<LookupFunction>[1],
    callback: Parameters<LookupFunction>[2],
    isAllowed = (_: string) => true,
  ): void {
    this.resolveOnce(hostname, options, (error, addresses) => {
      if (error) return callback(error, '');
      const [first] = addresses;
      if (!first) return callback(new Error('the name has no address'), '');
      if (!addresses.every(({ address }) => isAllowed(address))) {
        return callback(new Error('the name resolves to a private address'), '');
      }
      return options.all ? callback(null, addresses) : callback(null, first.address, first.family);
    });
  }

  /**
   * Resolves a name only once at a time. The system resolves two names at a time, and may take many seconds for one whose
   * name server does not answer: if each call for this name took its turn, those for other names would wait. Slow names
   * are looked up one after the other, so together they take one of the two places. Names that are not known to be slow
   * are not limited: two whose look-ups become slow at the same time take both until these end. A look-up that succeeds
   * is slow if a packet was lost, which does not make its name slow: it would wait for the others the next time.
   */
  private resolveOnce(hostname: string, options: Parameters<LookupFunction>[1], callback: Resolved): void {
    const key = `${hostname} ${options.family} ${options.hints}`;
    const others = this.waiting.get(key);
    if (others) return void others.push(callback);
    const callbacks = [callback];
    this.waiting.set(key, callbacks);
    const start = (ended = (): void => undefined) => {
      const startedMs = monotonicMs();
      // Otherwise the time would include the wait for other names.
      const startsAtOnce = this.underWay < AT_ONCE;
      this.underWay += 1;
      this.resolve(hostname, { ...options, all: true }, (error, addresses) => {
        this.waiting.delete(key);
        this.underWay -= 1;
        if (!error || monotonicMs() - startedMs <= SLOW_MS) this.slow.delete(hostname);
        else if (startsAtOnce) this.slow.add(hostname);
        ended();
        for (const each of callbacks) each(error, addresses);
      });
    };
    if (this.slow.has(hostname)) this.turn = this.turn.then(() => new Promise(start));
    else start();
  }
}
