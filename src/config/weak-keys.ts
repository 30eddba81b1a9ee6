import ipaddr from 'ipaddr.js';

/** The sandbox's own keys. They are public, so they may guard only play money on a loopback address. */
export const SANDBOX_ADMIN_API_KEY = 'sandbox-admin-key-for-play-money-only';
export const SANDBOX_SECRETS_KEY = Buffer.alloc(32, 'croupier sandbox');

const PUBLIC = "is the sandbox's own key, which is public";

/** Why an admin key is too weak; undefined if it may be used. */
export function weaknessOfAdminKey(key: string): string | undefined {
  if (key === SANDBOX_ADMIN_API_KEY) return PUBLIC;
  if (new Set(key).size === 1) return 'is one character repeated';
  return undefined;
}

/** Why an encryption key is too weak; undefined if it may be used. */
export function weaknessOfSecretsKey(key: Buffer): string | undefined {
  if (key.equals(SANDBOX_SECRETS_KEY)) return PUBLIC;
  if (new Set(key).size === 1) return 'is one byte repeated';
  return undefined;
}

/**
 * Whether only this machine can reach a listener on the host. False for a name other than `localhost`, because it may
 * resolve to any address.
 */
export function isLoopback(host: string): boolean {
  if (!ipaddr.isValid(host)) return host.toLowerCase() === 'localhost';
  return ipaddr.process(host).range() === 'loopback';
}
