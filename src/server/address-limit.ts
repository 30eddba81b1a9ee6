import { networkOf } from '../runtime/network.js';

/**
 * Limits the number of open connections from each client network (`networkOf`). Trusted proxies are exempt, because
 * they carry many clients.
 */
export class AddressLimit {
  private readonly open = new Map<string, number>();

  /**
   * @param most maximum number of open connections from one network
   * @param isTrusted whether an address belongs to a trusted proxy
   */
  constructor(
    private readonly most: number,
    private readonly isTrusted: (address: string) => boolean,
  ) {}

  /**
   * Counts a new connection from an address.
   * @returns a function to call once, when the connection closes; undefined if the network has reached its limit
   */
  enter(address: string): (() => void) | undefined {
    if (this.isTrusted(address)) return () => undefined;
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
