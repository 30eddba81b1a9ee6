import { expect, test } from 'vitest';
import { OwnCursors } from '../../src/api/lists/own-cursors.js';
import { Randomness } from '../../src/runtime/randomness.js';

const OLD = Buffer.alloc(32, 'old');
const NEW = Buffer.alloc(32, 'new');

const cursorsWith = (secretsKey: Buffer, secretsKeyPrevious?: Buffer) =>
  new OwnCursors({ secretsKey, secretsKeyPrevious }, new Randomness());

const PLACE = 'place of the last item';
const endAt = (cursors: OwnCursors) =>
  cursors.page('lucky', {}, () => Promise.resolve({ nextCursor: PLACE })).then((page) => page.nextCursor);
const placeAfter = async (cursors: OwnCursors, cursor: string | undefined) => {
  let read: string | undefined;
  await cursors.page('lucky', { ...(cursor !== undefined && { cursor }) }, (query) => {
    read = query.cursor;
    return Promise.resolve({});
  });
  return read;
};

test('a cursor is valid with the key that made it, also once that key is the previous one', async () => {
  const cursor = await endAt(cursorsWith(OLD));
  expect(await placeAfter(cursorsWith(OLD), cursor)).toBe(PLACE);
  expect(await placeAfter(cursorsWith(NEW, OLD), cursor)).toBe(PLACE);
  await expect(placeAfter(cursorsWith(NEW), cursor)).rejects.toThrow('cursor must be');
});

test('two cursors of one place differ, and the last page has none', async () => {
  const cursors = cursorsWith(NEW);
  expect(await endAt(cursors)).not.toBe(await endAt(cursors));
  expect(await cursors.page('lucky', {}, () => Promise.resolve({}))).toEqual({});
});
