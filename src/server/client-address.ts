import type { Express } from 'express';
import { isIP } from 'node:net';

/** An IPv4 address with a port, or an IPv6 address in brackets with or without one. */
const WITH_PORT = /^(?:([\d.]+):\d{1,5}|\[([\da-fA-F:.]+)\](?::\d{1,5})?)$/;

/**
 * The address of an entry of X-Forwarded-For, which may have a port.
 * @returns undefined if the entry is no IP address
 */
function addressIn(entry: string): string | undefined {
  const text = entry.trim();
  const [, v4, v6] = WITH_PORT.exec(text) ?? [];
  if (v6 !== undefined) return isIP(v6) === 6 ? v6 : undefined;
  const address = v4 ?? text;
  return isIP(address) === 0 ? undefined : address;
}

/** Whether an address belongs to a trusted proxy, as Express has compiled its setting `trust proxy`. */
export function trustOf(application: Express): (address: string) => boolean {
  const isTrusted = application.get('trust proxy fn') as (address: string, hop: number) => boolean;
  return (address) => isTrusted(address, 0);
}

/**
 * The address that a request came from: the nearest one that is not a trusted proxy. A proxy may name no address, or
 * something that is none. The request then counts as its own, so that such requests share one limit per proxy.
 * @param peer the address of the connection; undefined once it is closed
 * @param forwardedFor the header X-Forwarded-For, whose last entry is that of the nearest proxy
 * @param isTrusted whether an address belongs to a trusted proxy
 */
export function clientAddress(
  peer: string | undefined,
  forwardedFor: string | undefined,
  isTrusted: (address: string) => boolean,
): string | undefined {
  if (peer === undefined || forwardedFor === undefined) return peer;
  let address = peer;
  // Reads no entry beyond the first that counts: anyone may send a long header.
  let end = forwardedFor.length;
  while (end >= 0 && isTrusted(address)) {
    const comma = end === 0 ? -1 : forwardedFor.lastIndexOf(',', end - 1);
    const before = addressIn(forwardedFor.slice(comma + 1, end));
    if (before === undefined) return peer;
    address = before;
    end = comma;
  }
  return address;
}
