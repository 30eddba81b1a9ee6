import { namesPrivateAddress } from './address.js';

/** The longest base address that is accepted, in characters. */
const LONGEST_URL = 2048;
/** The message for a value that is not a URL; it follows the field's name. */
export const NO_ADDRESS = `must be an absolute https address of at most ${LONGEST_URL} printable ASCII characters`;
/** A name that resolves to this machine. */
const LOCALHOST = /(^|\.)localhost\.?$/;
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
  if (!allowPrivate && (namesPrivateAddress(new URL(url)) || LOCALHOST.test(hostname)))
    return 'must not be a private, loopback, link-local or reserved address';
  return undefined;
}

/** As it is stored and called: the parser's own spelling, without slashes at its end. */
export function normalisedBaseUrl(url: string): string {
  return new URL(url).href.replace(/(?<!\/)\/+$/, '');
}
