import { BlockList, isIP } from 'node:net';
import { networkOf } from '../runtime/network.js';

/** The names that TRUST_PROXY accepts, as Express defines them. */
const NAMED_BLOCKS: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/**
 * Limits the number of open connections from each client network (`networkOf`). Trusted proxies are exempt, because
 * they carry many clients.
 */
export class AddressLimit {
  private readonly open = new Map<string, number>();
  private readonly exempt = new BlockList();

  /**
   * @param most maximum number of open connections from one network
   * @param trustProxy addresses, CIDR blocks and names, as TRUST_PROXY lists them
   */
  constructor(
    private readonly most: number,
    trustProxy: readonly string[],
  ) {
    for (const block of trustProxy.flatMap((entry) => NAMED_BLOCKS[entry] ?? [entry])) {
      const [address = '', bits] = block.split('/');
      const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
      this.exempt.addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family);
    }
  }

  /**
   * Counts a new connection from an address.
   * @returns a function to call once, when the connection closes; undefined if the network has reached its limit
   */
  enter(address: string): (() => void) | undefined {
    if (this.exempt.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')) return () => undefined;
    const network = networkOf(address);
    const open = this.open.get(network) ?? 0;
    if (open >= this.most) return undefined;
    this.open.set(network, open + 1);
    return () => this.leave(network);
  }

  private leave(network: string): void {
    const open = this.open.get(network)! - 1;
    if (open > 0) this.open.set(network, open);
    else this.open.delete(network);
  }
}
