import { isIP } from 'node:net';
import { isPublicAddress } from './address.js';

/** The longest base address that is accepted, in characters. */
const LONGEST_URL = 2048;
/** What is told of what is no address at all, to follow the field's name. */
export const NO_ADDRESS = `must be an absolute https address of at most ${LONGEST_URL} printable ASCII characters`;
const SHAPE = new RegExp(`^https?://[\\x21-\\x7e]{1,${LONGEST_URL - 'https://'.length}}$`, 'i');

/**
 * Judges the base address of a wallet or webhook. Contract, section 4. A name is not resolved here: what it
 * resolves to is judged at each connection.
 * @param allowPrivate `OUTBOUND_ALLOW_PRIVATE`: http, and addresses that are not public, are accepted too
 * @returns why it is refused, to follow the field's name; undefined where it is accepted
 */
export function checkBaseUrl(url: string, allowPrivate: boolean): string | undefined {
  if (!SHAPE.test(url) || !URL.canParse(url)) return NO_ADDRESS;
  // A parser takes a backslash for a slash, and so another host than a reader does.
  if (url.includes('\\')) return 'must not contain a backslash';
  const { protocol, username, password, hostname } = new URL(url);
  if (protocol !== 'https:' && !allowPrivate) return 'must begin with https://';
  if (username !== '' || password !== '') return 'must not carry credentials';
  if (/[?#]/.test(url)) return 'must not carry a query or a fragment';
  if (!allowPrivate && isLocal(hostname))
    return 'must not be a private, loopback, link-local or reserved address';
  return undefined;
}

/** As it is stored and called: the parser's own spelling, without slashes at its end. */
export function normalisedBaseUrl(url: string): string {
  return new URL(url).href.replace(/(?<!\/)\/+$/, '');
}

/** @param hostname from a parsed URL, so that decimal, octal and hexadecimal IPv4 are already dotted */
function isLocal(hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0) return !isPublicAddress(address);
  return /(^|\.)localhost\.?$/.test(hostname);
}
