import ipaddr from 'ipaddr.js';

/**
 * The network by which the connections and requests of an address are counted: an IPv4 address itself, even if it is
 * mapped into IPv6, or the /64 of an IPv6 address, because a /64 usually belongs to one client.
 * @param address an IP address; any other text is returned unchanged
 */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4' ? parsed.toString() : parsed.toByteArray().slice(0, 8).join('.');
}
