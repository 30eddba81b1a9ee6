import { describe, expect, test } from 'vitest';
import { Randomness } from '../../src/runtime/randomness.js';
import { SecretBox, type SecretPlace } from '../../src/tenancy/secrets/secret-box.js';

const randomness = new Randomness();
const box = new SecretBox({ secretsKey: Buffer.alloc(32, 1) }, randomness);
const ACME: SecretPlace = { tenantId: 'acme', column: 'current' };
const ID = 'AbCdEfGhIjKlMnOp';
const identified = (secret: string) => ({ secretId: ID, secret });

describe('an encrypted secret', () => {
  test.each(['x', randomness.secret(), 'schlüssel 🔑'])('is decrypted to the original: %s', (secret) => {
    expect(box.decrypt(ACME, box.encrypt(ACME, identified(secret)))).toEqual(identified(secret));
  });

  test('names its version, key and id, and does not show the secret', () => {
    const encrypted = box.encrypt(ACME, identified('a secret of ours'));
    expect(encrypted).toMatch(/^v2\.72cd6e84\.AbCdEfGhIjKlMnOp\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]+$/);
    expect(Buffer.from(encrypted.split('.')[4] ?? '', 'base64url').toString('latin1')).not.toContain(
      'secret',
    );
  });

  test('is another text each time', () => {
    expect(box.encrypt(ACME, identified('x'))).not.toBe(box.encrypt(ACME, identified('x')));
  });

  test.each<[string, SecretPlace]>([
    ['the row of another tenant', { tenantId: 'other', column: 'current' }],
    ['the other column', { tenantId: 'acme', column: 'previous' }],
  ])('cannot be decrypted in %s', (_, place) => {
    expect(() => box.decrypt(place, box.encrypt(ACME, identified('x')))).toThrow(
      'for another tenant or column',
    );
  });

  test('cannot be decrypted under another id', () => {
    const encrypted = box.encrypt(ACME, identified('x')).replace(ID, 'another-id-12345');
    expect(() => box.decrypt(ACME, encrypted)).toThrow('altered, or encrypted for another');
  });

  test('cannot be decrypted when a single bit is altered', () => {
    const parts = box.encrypt(ACME, identified('x')).split('.');
    const altered = Buffer.from(parts.pop() ?? '', 'base64url');
    altered.writeUInt8(altered.readUInt8(0) ^ 1);
    const encrypted = [...parts, altered.toString('base64url')].join('.');
    expect(() => box.decrypt(ACME, encrypted)).toThrow('altered, or encrypted for another');
  });

  test('cannot be decrypted with another key, and names the key that encrypted it', () => {
    const other = new SecretBox({ secretsKey: Buffer.alloc(32, 2) }, randomness);
    expect(() => other.decrypt(ACME, box.encrypt(ACME, identified('x')))).toThrow(
      `encrypted with key ${box.keyId}`,
    );
  });

  test.each([
    '',
    'x',
    'v1.72cd6e84..',
    'v2.72cd6e84.AAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAAAA',
    'v3.72cd6e84.AAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAAAA',
  ])('is not decrypted from another text: %j', (text) => {
    expect(() => box.decrypt(ACME, text)).toThrow('not an encrypted secret');
  });
});

describe('a secret in the format of earlier versions', () => {
  /** Written by an earlier version with the key of this test, for the tenant `acme`. */
  const ENCRYPTED = 'v1.72cd6e84.AAAAAAAAAAAAAAAA.zFD7rhBP02W6s1dQQalJYvJN8YjjQg';

  test('can be opened, in either column, and has no id', () => {
    expect(box.decrypt(ACME, ENCRYPTED)).toEqual({ secret: 'secret' });
    expect(box.decrypt({ ...ACME, column: 'previous' }, ENCRYPTED)).toEqual({ secret: 'secret' });
  });

  test('cannot be decrypted in the row of another tenant', () => {
    expect(() => box.decrypt({ ...ACME, tenantId: 'other' }, ENCRYPTED)).toThrow(
      'for another tenant or column',
    );
  });

  test('does not have the current format', () => {
    expect(box.isCurrent(ENCRYPTED)).toBe(false);
  });

  test('gets an id when it is identified', () => {
    const { secret, secretId } = box.identify(ACME, ENCRYPTED);
    expect([secret, secretId]).toEqual(['secret', expect.stringMatching(/^[A-Za-z0-9_-]{16}$/)]);
  });
});
