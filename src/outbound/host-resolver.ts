import { Injectable } from '@nestjs/common';
import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from './address.js';

/** Resolves a name to all of its addresses, as `dns.lookup` does. */
export type Resolve = (
  hostname: string,
  options: { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: { address: string; family: number }[]) => void,
) => void;

@Injectable()
export class HostResolver {
  /** The system's resolver; tests replace it. */
  resolve: Resolve = lookup;

  /**
   * A `lookup` for sockets that refuses a name if any of its addresses is not public. The socket connects to a checked
   * address and does not resolve the name again, because the second result could differ (DNS rebinding).
   */
  readonly publicOnly: LookupFunction = (hostname, options, callback) => {
    this.resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '');
      const [first] = addresses;
      if (!first) return callback(new Error('the name has no address'), '');
      if (!addresses.every(({ address }) => isPublicAddress(address))) {
        return callback(new Error('the name resolves to a private address'), '');
      }
      return options.all ? callback(null, addresses) : callback(null, first.address, first.family);
    });
  };
}
