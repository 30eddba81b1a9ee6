import { expect, test } from 'vitest';
import { BoundedBytes } from '../../src/runtime/bounded-bytes.js';

const BODY = Buffer.from(Array.from({ length: 1600 }, (_, index) => index % 251));

function collect(body: Buffer, partBytes: number, limitBytes = BODY.length) {
  const collected = new BoundedBytes(limitBytes);
  let accepted = true;
  for (let at = 0; at < body.length; at += partBytes) {
    accepted = collected.add(body.subarray(at, at + partBytes));
  }
  return { accepted, bytes: collected.bytes() };
}

test.each([16, 17, 100, 999, 1599, 1600])('a body in parts of %i bytes is whole', (partBytes) => {
  expect(collect(BODY, partBytes)).toEqual({ accepted: true, bytes: BODY });
});

test('a body without parts is empty', () => {
  expect(new BoundedBytes(10).bytes()).toHaveLength(0);
});

test.each([1, 700, 1600])('of a longer body in parts of %i bytes, the limit is kept', (partBytes) => {
  expect(collect(BODY, partBytes, 1599)).toEqual({ accepted: false, bytes: BODY.subarray(0, 1599) });
});

test('more than one part for 16 bytes of the limit are too many, however few bytes they have', () => {
  const collected = new BoundedBytes(1600);
  for (let part = 1; part <= 100; part += 1) expect(collected.add(BODY.subarray(0, 1))).toBe(true);
  expect(collected.hasTooManyParts).toBe(false);
  expect(collected.add(Buffer.alloc(0))).toBe(false);
  expect(collected.hasTooManyParts).toBe(true);
});
