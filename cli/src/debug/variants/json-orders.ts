import { type Variant, variant } from '../signing.js';
import { isLarge } from './body-size.js';
import { bodiesWith } from './contract-fields.js';
import { type JsonMembers, membersOf } from './json-members.js';
import { jsonValue } from './json-value.js';
import { permutations } from './permutations.js';

export const OTHER_ORDER =
  'The signed JSON has its keys in another order than the one sent. Serialise once, then sign and send the same bytes.';

/** The keys in the order in which the contract declares them; undefined if the contract does not have all of them. */
export function contractOrder(names: readonly string[]): string[] | undefined {
  const [fields] = bodiesWith(names);
  return fields && names.toSorted((a, b) => fields.indexOf(a) - fields.indexOf(b));
}

/** The size at which a `java.util.HashMap` begins, and the share of it that is filled before it doubles. */
const HASH_MAP_SIZE = 16;
const HASH_MAP_LOAD = 0.75;

/** The keys in the order in which a `java.util.HashMap` lists them, as `org.json` does. */
export function hashMapOrder(names: readonly string[]): string[] {
  let size = HASH_MAP_SIZE;
  while (names.length > size * HASH_MAP_LOAD) size *= 2;
  const bucket = (name: string) => {
    let hash = 0;
    for (let at = 0; at < name.length; at += 1) hash = (Math.imul(hash, 31) + name.charCodeAt(at)) | 0;
    return (hash ^ (hash >>> 16)) & (size - 1);
  };
  return names.toSorted((a, b) => bucket(a) - bucket(b));
}

/** An object with at most this many keys is tried with its keys in every order early: these are 40,320 orders. */
export const FEW_KEYS = 8;
/** An object with at most this many keys is tried so at the end: these are 3,628,800 orders. */
export const MANY_KEYS = 10;

/** The number of keys of the outermost object; 0 if the body is not a JSON object. */
export function keyCount(body: Buffer): number {
  return outermost(body)?.members.length ?? 0;
}

/** The JSON with the keys of its outermost object in every order. */
export function* keyOrders(body: Buffer): Iterable<Variant[]> {
  const json = outermost(body);
  if (!json) return;
  for (const order of orders(json.members.map(({ text }) => text))) {
    const reordered = Buffer.from(json.joined(order));
    yield [variant(3, 'body-key-order', OTHER_ORDER, { body: reordered })];
  }
}

function outermost(body: Buffer): JsonMembers | undefined {
  if (isLarge(body)) return undefined;
  const text = body.toString();
  return jsonValue(text) && membersOf(text);
}

/** One order after the other: all at once would need much memory. */
function* orders(items: readonly string[]): Iterable<string[]> {
  if (items.length <= FEW_KEYS - 2) {
    yield* permutations(items);
    return;
  }
  for (const [index, first] of items.entries()) {
    for (const rest of orders(items.toSpliced(index, 1))) yield [first, ...rest];
  }
}
