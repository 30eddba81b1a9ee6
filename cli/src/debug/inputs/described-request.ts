/** A request, as a file or the options of the command describe it. */
export interface DescribedRequest {
  method: string;
  /** The request target. */
  path: string;
  headers: [name: string, value: string][];
  body: Buffer;
  /** When the request was sent, as Unix time in seconds, if the file has the time. */
  sentAt?: number | undefined;
}

/** The request target and the `Host` of an address, spelt as in the address. */
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
