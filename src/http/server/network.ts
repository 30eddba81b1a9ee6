import ipaddr from 'ipaddr.js';

/**
 * The network under which an address is counted: an IPv4 address by itself, even if it is mapped into IPv6; an IPv6
 * address by its /64, which usually belongs to one client.
 * @param address as a socket or `X-Forwarded-For` gives it; anything else is returned unchanged
 */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4' ? parsed.toString() : parsed.toByteArray().slice(0, 8).join('.');
}
