import { createHash } from 'node:crypto';
import { canonical, hex, hmac, kind, type PlantedMistake } from './call.js';

export const DIGESTS: readonly PlantedMistake[] = [
  kind('SHA-256 without a key', 'digest-without-key', (call) => ({
    signature: hex('sha256', canonical(call)),
  })),
  kind('key prepended', 'digest-key-prepended', (call) => ({
    signature: hex('sha256', call.secret + canonical(call)),
  })),
  kind('key appended', 'digest-key-appended', (call) => ({
    signature: hex('sha256', canonical(call) + call.secret),
  })),
  kind('HMAC of a hash in hex', 'digest-of-hash', (call) => ({ text: hex('sha256', canonical(call)) })),
  kind('HMAC of a hash', 'digest-of-hash', (call) => ({
    text: createHash('sha256').update(canonical(call)).digest(),
  })),
  kind('double HMAC', 'digest-twice', (call) => ({ text: hmac(call.secret, canonical(call)) })),
  kind('key and text swapped', 'digest-swapped', (call) => ({ key: canonical(call), text: call.secret })),
  ...['sha1', 'sha224', 'sha384', 'sha512', 'sha3-256', 'md5'].map((algorithm) =>
    kind(`HMAC with ${algorithm}`, 'digest-algorithm', () => ({ algorithm })),
  ),
  kind('MD5 without a key', 'digest-without-key+digest-algorithm', (call) => ({
    signature: hex('md5', canonical(call)),
  })),
  kind('text in UTF-16', 'text-utf16', (call) => ({ text: Buffer.from(canonical(call), 'utf16le') })),

  kind('key prepended, SHA-512', 'digest-key-prepended+digest-algorithm', (call) => ({
    signature: hex('sha512', call.secret + canonical(call)),
  })),
  kind('key appended behind a newline', 'digest-key-appended', (call) => ({
    signature: hex('sha256', `${canonical(call)}\n${call.secret}`),
  })),
  kind('key on both sides', 'digest-key-around', (call) => ({
    signature: hex('sha256', call.secret + canonical(call) + call.secret),
  })),
  ...['sha3-512', 'sha512-256', 'blake2b512', 'ripemd160'].map((algorithm) =>
    kind(`HMAC with ${algorithm}`, 'digest-algorithm', () => ({ algorithm })),
  ),
  kind(
    'HMAC with SHA-512, cut to 64 digits',
    ['digest-algorithm', 'digest-algorithm+signature-length'],
    () => ({
      algorithm: 'sha512',
      spell: (digest) => digest.toString('hex').slice(0, 64),
    }),
  ),
  kind('double HMAC over hex', 'digest-twice', (call) => ({
    text: hmac(call.secret, canonical(call)).toString('hex'),
  })),
  kind('SHA-256 of the HMAC', 'digest-hashed-again', (call) => ({
    signature: createHash('sha256')
      .update(hmac(call.secret, canonical(call)))
      .digest('hex'),
  })),
  kind('key and text swapped, SHA-1', 'digest-swapped+digest-algorithm', (call) => ({
    key: canonical(call),
    text: call.secret,
    algorithm: 'sha1',
  })),
  kind('SHA-1 without a key', 'digest-without-key+digest-algorithm', (call) => ({
    signature: hex('sha1', canonical(call)),
  })),
  kind('text in base64', 'text-encoded', (call) => ({
    text: Buffer.from(canonical(call)).toString('base64'),
  })),
  kind('text in lower case', 'text-case', (call) => ({ text: canonical(call).toLowerCase() })),
  kind('secret in front of the signed text, too', 'digest-key-in-text', (call) => ({
    text: `${call.secret}\n${canonical(call)}`,
  })),
  kind('HMAC cut to 16 bytes', 'signature-length', () => ({
    spell: (digest) => digest.toString('hex').slice(0, 32),
  })),
];
