import { createHash } from 'node:crypto';
import { hex, hmac, kind, type PlantedMistake } from './call.js';

export const KEYS: readonly PlantedMistake[] = [
  kind('key with a newline', 'key-whitespace', ({ secret }) => ({ key: `${secret}\n` })),
  kind('key with CRLF', 'key-whitespace', ({ secret }) => ({ key: `${secret}\r\n` })),
  kind('key with a leading space', 'key-whitespace', ({ secret }) => ({ key: ` ${secret}` })),
  kind('key in double quotes', 'key-quoted', ({ secret }) => ({ key: `"${secret}"` })),
  kind('key in single quotes', 'key-quoted', ({ secret }) => ({ key: `'${secret}'` })),
  kind('given secret with a newline', 'given-secret-whitespace', ({ secret }) => ({
    key: secret,
    sent: { secret: `${secret}\n` },
  })),
  kind('given secret in quotes', 'given-secret-quoted', ({ secret }) => ({
    key: secret,
    sent: { secret: `"${secret}"` },
  })),
  kind('key decoded from base64url', 'key-base64-decoded', ({ secret }) => ({
    key: Buffer.from(secret, 'base64url'),
  })),
  kind('key decoded from hex', 'key-hex-decoded', ({ secret }) => ({
    key: Buffer.from(hex('md5', secret), 'hex'),
    sent: { secret: hex('md5', secret) },
  })),
  kind('key encoded in base64', 'key-base64-encoded', ({ secret }) => ({
    key: Buffer.from(secret).toString('base64'),
  })),
  kind('key encoded in hex', 'key-hex-encoded', ({ secret }) => ({
    key: Buffer.from(secret).toString('hex'),
  })),
  kind('key hashed with SHA-256, bytes', 'key-hashed', ({ secret }) => ({
    key: createHash('sha256').update(secret).digest(),
  })),
  kind('key hashed with SHA-256, hex', 'key-hashed', ({ secret }) => ({ key: hex('sha256', secret) })),
  kind('key hashed with MD5, hex', 'key-hashed', ({ secret }) => ({ key: hex('md5', secret) })),
  kind('key hashed with SHA-1, hex', 'key-hashed', ({ secret }) => ({ key: hex('sha1', secret) })),
  kind('key cut to 32', 'key-cut', ({ secret }) => ({ key: secret.slice(0, 32) })),
  kind('key cut by one', 'key-cut', ({ secret }) => ({ key: secret.slice(0, -1) })),
  kind('key cut anywhere', 'key-cut', ({ secret }, random) => ({
    key: secret.slice(0, 5 + Math.floor(random() * 30)),
  })),
  kind('key in lower case', 'key-case', ({ secret }) => ({ key: secret.toLowerCase() })),
  kind('key in upper case', 'key-case', ({ secret }) => ({ key: secret.toUpperCase() })),
  kind('key in UTF-16', 'key-utf16', ({ secret }) => ({ key: Buffer.from(secret, 'utf16le') })),
  kind('key not configured', 'key-empty', () => ({ key: '' })),
  kind('key undefined', 'key-placeholder', () => ({ key: 'undefined' })),
  kind('key is the tenant', 'key-tenant-id', ({ tenant }) => ({ key: tenant })),
  kind('key with a typing mistake', ['key-typo', 'key-case'], ({ secret }, random) => {
    const at = 3 + Math.floor(random() * (secret.length - 4));
    return { key: secret.slice(0, at) + (secret[at] === 'x' ? 'y' : 'x') + secret.slice(at + 1) };
  }),

  kind('key encoded in base64url', 'key-base64-encoded', ({ secret }) => ({
    key: Buffer.from(secret).toString('base64url'),
  })),
  kind('key encoded in upper-case hex', 'key-hex-encoded', ({ secret }) => ({
    key: Buffer.from(secret).toString('hex').toUpperCase(),
  })),
  kind('key decoded from base64 with + and /', 'key-base64-decoded', ({ secret }) => {
    const issued = Buffer.from(hmac(secret, 'key')).toString('base64');
    return { key: Buffer.from(issued, 'base64'), sent: { secret: issued } };
  }),
  kind('key decoded from upper-case hex', 'key-hex-decoded', ({ secret }) => {
    const issued = hex('sha256', secret).toUpperCase();
    return { key: Buffer.from(issued, 'hex'), sent: { secret: issued } };
  }),
  kind('key decoded from base64 behind a prefix', 'key-base64-decoded', ({ secret }) => {
    const issued = hmac(secret, 'key').toString('base64');
    return { key: Buffer.from(issued, 'base64'), sent: { secret: `whsec_${issued}` } };
  }),
  kind('key without its prefix', 'key-prefix', ({ secret }) => ({
    key: secret,
    sent: { secret: `whsec_${secret}` },
  })),
  kind('key with the name of its variable', 'key-prefix', ({ secret }) => ({
    key: `CROUPIER_SECRET=${secret}`,
  })),
  kind('echo without -n into base64', 'key-whitespace+key-base64-encoded', ({ secret }) => ({
    key: Buffer.from(`${secret}\n`).toString('base64'),
  })),
  kind('echo without -n into sha256sum', 'key-whitespace+key-hashed', ({ secret }) => ({
    key: hex('sha256', `${secret}\n`),
  })),
  kind('key hashed with SHA-256, base64', 'key-hashed', ({ secret }) => ({
    key: createHash('sha256').update(secret).digest('base64'),
  })),
  kind('key hashed with SHA-512, hex', 'key-hashed', ({ secret }) => ({ key: hex('sha512', secret) })),
  kind('key hashed with SHA-512, bytes', 'key-hashed', ({ secret }) => ({
    key: createHash('sha512').update(secret).digest(),
  })),
  kind('key hashed with SHA-256, cut to 32 hex digits', 'key-hashed+key-cut', ({ secret }) => ({
    key: hex('sha256', secret).slice(0, 32),
  })),
  kind('key without its first character', 'key-cut', ({ secret }) => ({ key: secret.slice(1) })),
  kind('key cut at its first dash', ['key-cut', 'key-typo'], ({ secret }) => {
    const issued = `${secret.slice(0, 20)}-${secret.slice(20)}`;
    return { key: issued.split('-')[0]!, sent: { secret: issued } };
  }),
  kind('key in UTF-16, big-endian', 'key-utf16', ({ secret }) => ({
    key: Buffer.from(secret, 'utf16le').swap16(),
  })),
  kind('key with a tab', 'key-whitespace', ({ secret }) => ({ key: `${secret}\t` })),
  kind('key between spaces', 'key-whitespace', ({ secret }) => ({ key: ` ${secret} ` })),
  kind('key in quotes, with a newline', 'key-quoted+key-whitespace', ({ secret }) => ({
    key: `"${secret}"\n`,
  })),
  kind('key in curly quotes', 'key-quoted', ({ secret }) => ({ key: `“${secret}”` })),
  kind('key with a semicolon', 'key-suffix', ({ secret }) => ({
    key: `${secret};`,
  })),
  kind('key with a byte order mark', 'key-bom', ({ secret }) => ({ key: `\ufeff${secret}` })),
  kind('key with two letters swapped', ['key-typo', 'key-case'], ({ secret }, random) => {
    const at = 4 + Math.floor(random() * 30);
    const letters = [...secret];
    [letters[at], letters[at + 1]] = ['q', '7'];
    const issued = letters.join('');
    [letters[at], letters[at + 1]] = ['7', 'q'];
    return { key: letters.join(''), sent: { secret: issued } };
  }),
  kind('key without its dashes and underscores', 'key-alphabet', ({ secret }) => ({
    key: secret.replaceAll(/[-_]/g, ''),
    sent: { secret: `${secret.slice(0, 9)}-_${secret.slice(9)}` },
  })),
  kind('key URL-encoded', 'key-url-encoded', ({ secret }) => {
    const issued = `${secret.slice(0, 20)}+/${secret.slice(20)}=`;
    return { key: encodeURIComponent(issued), sent: { secret: issued } };
  }),
  kind(
    'given secret in quotes, with a newline',
    ['given-secret-quoted', 'given-secret-quoted+given-secret-whitespace'],
    ({ secret }) => ({
      key: secret,
      sent: { secret: `"${secret}"\n` },
    }),
  ),
  kind('given secret with CRLF', 'given-secret-whitespace', ({ secret }) => ({
    key: secret,
    sent: { secret: `${secret}\r\n` },
  })),
  kind('given secret in a Bearer header', ['key-prefix', 'given-secret-prefix'], ({ secret }) => ({
    key: secret,
    sent: { secret: `Bearer ${secret}` },
  })),
  kind('key joined with the tenant id', 'key-with-tenant-id', ({ tenant, secret }) => ({
    key: `${tenant}:${secret}`,
  })),
  kind('key hashed with the tenant id', 'unknown', ({ tenant, secret }) => ({
    key: hex('sha256', tenant + secret),
  })),
  kind('key of the day, as AWS derives it', 'unknown', ({ secret }) => ({ key: hmac(secret, '20261124') })),
  kind('key with a zero-width space', 'key-whitespace', ({ secret }) => ({ key: `${secret}\u200b` })),
];
