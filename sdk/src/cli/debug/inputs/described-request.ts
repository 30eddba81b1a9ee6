/** A request described by a file. */
export interface DescribedRequest {
  method: string;
  /** The request target. */
  path: string;
  headers: [name: string, value: string][];
  body: Buffer;
  /** When it was sent, in Unix seconds, if the file says so. */
  sentAt?: number | undefined;
}

/** Target and `Host` of an address, exactly as they are spelt. */
export function targetOf(address: string): { path: string; host: string | undefined } {
  const [, authority, target = ''] = /^(?:[a-z][a-z0-9+.-]*:)?(?:\/\/)?([^/?#]*)([^#]*)/i.exec(address) ?? [];
  const host = authority?.slice(authority.lastIndexOf('@') + 1);
  return { path: target.startsWith('/') ? target : `/${target}`, host: host === '' ? undefined : host };
}

/** Adds the `Host` of the address, unless the request has its own. */
export function withHost(
  headers: [name: string, value: string][],
  host: string | undefined,
): [name: string, value: string][] {
  if (host === undefined || headers.some(([name]) => name.toLowerCase() === 'host')) return headers;
  return [...headers, ['Host', host]];
}
