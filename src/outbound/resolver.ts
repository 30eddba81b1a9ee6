import { Injectable } from '@nestjs/common';
import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from './address.js';

/** What the system's resolver makes of a name: all of its addresses. */
export type Resolve = (
  hostname: string,
  options: { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: { address: string; family: number }[]) => void,
) => void;

/** Resolves the names of counterparts as their connections are made. */
@Injectable()
export class Resolver {
  /** The system's; a test puts one in its place that changes its mind. */
  resolve: Resolve = lookup;

  /**
   * For a socket: resolves a name, and refuses it where any of its addresses is private. What was judged is what is
   * connected to, so that a name cannot change its mind in between.
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
