import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from './address.js';

/** Whether an address in a URL is an IP address that is not public; names are judged where they are resolved. */
export function namesPrivateAddress(url: URL): boolean {
  const address = url.hostname.replace(/^\[|\]$/g, '');
  return isIP(address) !== 0 && !isPublicAddress(address);
}

/** Resolves a name, and refuses it where any of its addresses is private: a name may change its mind. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, '');
    const [first] = addresses;
    if (!first) return callback(new Error('the name has no address'), '');
    if (!addresses.every(({ address }) => isPublicAddress(address))) {
      return callback(new Error('the name resolves to a private address'), '');
    }
    return options.all ? callback(null, addresses) : callback(null, first.address, first.family);
  });
};
