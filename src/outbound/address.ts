import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';

/** The first three bits of 2000::/3, which contains all public IPv6 addresses; others are not routed publicly. */
const GLOBAL_IPV6_PREFIX = 0b001;

/**
 * Whether an IP address is public: not private, loopback, link-local, reserved or translated into another address
 * (NAT64, 6to4, Teredo). An IPv4 address mapped into IPv6 is judged as IPv4.
 * @param ip an IP address without brackets; any other text counts as not public
 */
export function isPublicAddress(ip: string): boolean {
  if (isIP(ip) === 0) return false;
  const address = ipaddr.process(ip);
  if (address.range() !== 'unicast') return false;
  if (address.kind() === 'ipv4') return true;
  const [first = 0] = address.toByteArray();
  return first >> 5 === GLOBAL_IPV6_PREFIX;
}

/** Whether a URL's host is an IP address that is not public. Host names are checked when they are resolved. */
export function namesPrivateAddress(url: URL): boolean {
  const address = url.hostname.replace(/^\[|\]$/g, '');
  return isIP(address) !== 0 && !isPublicAddress(address);
}
