import ipaddr from 'ipaddr.js';

/**
 * Names the network that an address is counted under: an IPv4 address by itself, also where it is mapped into IPv6, and
 * an IPv6 address by its /64, which one client has to itself.
 * @param address as a socket or `X-Forwarded-For` gives it; anything that is not an IP address names itself
 */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4' ? parsed.toString() : parsed.toByteArray().slice(0, 8).join('.');
}
