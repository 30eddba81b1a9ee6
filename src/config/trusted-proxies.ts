import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { ConfigurationError, type Reader } from './variable-reader.js';

/** An IPv4 address counts as the IPv6 address that it is mapped to, because a trusted IPv6 block contains it, too. */
const PUBLIC_SPACES = ['::ffff:0:0/96', '2000::/3'].map(rangeOf);

interface AddressRange {
  readonly first: bigint;
  /** The address after the last one. */
  readonly end: bigint;
}

/**
 * Reads `TRUST_PROXY`: a list of names such as `loopback`, addresses and CIDR blocks, as Express's `trust proxy` accepts
 * them.
 * @throws ConfigurationError
 */
export function trustedProxies(read: Reader): string[] {
  const entries = (read.text('TRUST_PROXY') ?? '').split(',').map((entry) => entry.trim());
  for (const entry of entries.filter(Boolean)) {
    const [address, bits, more] = entry.split('/');
    const family = isIP(address ?? '');
    const longest = family === 6 ? 128 : 32;
    const block = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= longest);
    const named = ['loopback', 'linklocal', 'uniquelocal'].includes(entry);
    if (!named && !(family > 0 && block && more === undefined)) {
      throw new ConfigurationError(
        `TRUST_PROXY: ${JSON.stringify(entry)} is neither an address nor a CIDR block`,
      );
    }
    if (Number(bits) === 0) {
      throw new ConfigurationError(
        `TRUST_PROXY: ${JSON.stringify(entry)} contains every address; list only the addresses of your proxies`,
      );
    }
  }
  return entries.filter(Boolean);
}

/**
 * Whether the blocks together contain at least half of all IPv4 or of all public IPv6 addresses, so that any caller could
 * choose the address that limits and logs see.
 * @param blocks addresses, CIDR blocks and names, as TRUST_PROXY lists them; the names stand for private addresses
 */
export function trustsEveryone(blocks: readonly string[]): boolean {
  const trusted = blocks.filter((block) => /[.:]/.test(block)).map(rangeOf);
  return PUBLIC_SPACES.some((space) => 2n * addressesWithin(space, trusted) >= space.end - space.first);
}

/** Number of addresses of a space that lie in at least one of the ranges. */
function addressesWithin(space: AddressRange, ranges: readonly AddressRange[]): bigint {
  let counted = 0n;
  let next = space.first;
  for (const { first, end } of ranges.toSorted((left, right) => (left.first < right.first ? -1 : 1))) {
    const start = first > next ? first : next;
    const stop = end < space.end ? end : space.end;
    if (stop <= start) continue;
    counted += stop - start;
    next = stop;
  }
  return counted;
}

function rangeOf(block: string): AddressRange {
  const [text = '', bits] = block.split('/');
  const address = ipaddr.parse(text);
  const [bytes, prefixBits] =
    address.kind() === 'ipv4'
      ? [(address as ipaddr.IPv4).toIPv4MappedAddress().toByteArray(), Number(bits ?? 32) + 96]
      : [address.toByteArray(), Number(bits ?? 128)];
  const size = 1n << BigInt(128 - prefixBits);
  const value = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  const first = value - (value % size);
  return { first, end: first + size };
}

/**
 * Whether only this machine can reach a listener on the host. False for a name other than `localhost`, because it may
 * resolve to any address.
 */
export function isLoopback(host: string): boolean {
  if (!ipaddr.isValid(host)) return host.toLowerCase() === 'localhost';
  return ipaddr.process(host).range() === 'loopback';
}
