import { namesPrivateAddress } from './address.js';

/** Longest accepted base address, in characters. */
const LONGEST_URL = 2048;
const CHARACTERS = `of at most ${LONGEST_URL} printable ASCII characters`;
/** The message for text that no configuration accepts; the caller puts the field's name before it. */
export const NO_ADDRESS = `must be an absolute address ${CHARACTERS}`;
/** Host names that resolve to this machine. */
const LOCALHOST = /(^|\.)localhost\.?$/;
const AUTHORITY = /^https?:\/\/([^/?#]*)/i;
const ALLOWED_BY = 'only OUTBOUND_ALLOW_PRIVATE=true allows it';
const SHAPE = new RegExp(`^https?://[\\x21-\\x7e]{1,${LONGEST_URL - 'https://'.length}}$`, 'i');

/**
 * Checks the base address of a wallet or webhook. Contract, section 4. A host name is not resolved here; its addresses
 * are checked when a connection is opened.
 * @param allowPrivate `OUTBOUND_ALLOW_PRIVATE`: also accepts http, and addresses that are not public
 * @returns why the address is refused, without the field's name; undefined if it is accepted
 */
export function checkBaseUrl(url: string, allowPrivate: boolean): string | undefined {
  if (lacksHost(url)) return 'must have a host';
  if (!SHAPE.test(url) || !URL.canParse(url))
    return `must be an absolute ${allowPrivate ? 'http or https' : 'https'} address ${CHARACTERS}`;
  // A parser reads a backslash as a slash, so it may find a host other than the one that a person sees.
  if (url.includes('\\')) return 'must not contain a backslash';
  const { protocol, username, password, hostname, port } = new URL(url);
  if (protocol !== 'https:' && !allowPrivate)
    return `must begin with https://, because http is plain text: ${ALLOWED_BY}`;
  if (username !== '' || password !== '') return 'must not carry credentials';
  if (/[?#]/.test(url)) return 'must not carry a query or a fragment';
  if (port === '0') return 'must not have the port 0';
  if (!allowPrivate && (namesPrivateAddress(new URL(url)) || LOCALHOST.test(hostname)))
    return `must not be a private, loopback, link-local or reserved address: ${ALLOWED_BY}`;
  return undefined;
}

/**
 * Checks an address before a call. It may have been stored while `OUTBOUND_ALLOW_PRIVATE` was set.
 * @returns why the address must not be called; undefined if it may be
 */
export function refusalToCall(url: URL, allowPrivate: boolean): string | undefined {
  if (allowPrivate) return undefined;
  if (namesPrivateAddress(url)) return 'the address is private';
  if (url.protocol !== 'https:') return `the address is not https: ${ALLOWED_BY}`;
  return undefined;
}

/** A parser would take the first segment of the path as the host. */
function lacksHost(url: string): boolean {
  const authority = AUTHORITY.exec(url)?.[1];
  if (authority === undefined) return false;
  const [host] = authority.slice(authority.lastIndexOf('@') + 1).split(':', 1);
  return host === '';
}

/** The address as it is stored and called: as the URL parser writes it, without trailing slashes. */
export function normalisedBaseUrl(url: string): string {
  return new URL(url).href.replace(/(?<!\/)\/+$/, '');
}
