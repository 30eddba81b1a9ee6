import { Injectable } from '@nestjs/common';
import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from './address.js';

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
   * name server does not answer: if each call for this name took its turn, those for other names would wait.
   */
  private resolveOnce(hostname: string, options: Parameters<LookupFunction>[1], callback: Resolved): void {
    const key = `${hostname} ${options.family} ${options.hints}`;
    const others = this.waiting.get(key);
    if (others) return void others.push(callback);
    const callbacks = [callback];
    this.waiting.set(key, callbacks);
    this.resolve(hostname, { ...options, all: true }, (error, addresses) => {
      this.waiting.delete(key);
      for (const each of callbacks) each(error, addresses);
    });
  }
}
