import { describe, expect, test } from 'vitest';
import { Randomness } from '../../src/runtime/randomness.js';
import { SecretBox } from '../../src/tenancy/secret-box.js';

const randomness = new Randomness();
const box = new SecretBox(Buffer.alloc(32, 1), randomness);

describe('a sealed secret', () => {
  test.each(['x', randomness.secret(), 'schlüssel 🔑'])('opens to what was sealed: %s', (secret) => {
    expect(box.open('acme', box.seal('acme', secret))).toBe(secret);
  });

  test('names its version and key, and does not show the secret', () => {
    const sealed = box.seal('acme', 'a secret of ours');
    expect(sealed).toMatch(/^v1\.72cd6e84\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]+$/);
    expect(Buffer.from(sealed.split('.')[3] ?? '', 'base64url').toString('latin1')).not.toContain('secret');
  });

  test('is another text each time', () => {
    expect(box.seal('acme', 'x')).not.toBe(box.seal('acme', 'x'));
  });

  test('does not open in the row of another tenant', () => {
    expect(() => box.open('other', box.seal('acme', 'x'))).toThrow('altered, or sealed for another tenant');
  });

  test('does not open when a single bit is altered', () => {
    const [version, key, iv, body = ''] = box.seal('acme', 'x').split('.');
    const altered = Buffer.from(body, 'base64url');
    altered.writeUInt8(altered.readUInt8(0) ^ 1);
    const sealed = [version, key, iv, altered.toString('base64url')].join('.');
    expect(() => box.open('acme', sealed)).toThrow('altered, or sealed for another tenant');
  });

  test('does not open with another key, and says which key it wants', () => {
    const other = new SecretBox(Buffer.alloc(32, 2), randomness);
    expect(() => other.open('acme', box.seal('acme', 'x'))).toThrow(`sealed with key ${box.keyId}`);
  });

  test.each(['', 'x', 'v1.72cd6e84..', 'v2.72cd6e84.AAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAAAA'])(
    'is recognised: %j is none',
    (text) => {
      expect(() => box.open('acme', text)).toThrow('no sealed secret');
    },
  );
});
