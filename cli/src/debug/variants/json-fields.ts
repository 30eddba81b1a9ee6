import type { CauseCode } from '../causes.js';
import { type Rank, type Variant, variant } from '../signing.js';
import { bodiesWith, CONTRACT_FIELDS } from './contract-fields.js';
import { type JsonMembers, membersOf } from './json-members.js';
import { OTHER_ORDER } from './json-orders.js';
import { jsonValue } from './json-value.js';

const of = (rank: Rank, code: CauseCode, explanation: string, body: string): Variant =>
  variant(rank, code, explanation, { body: Buffer.from(body) });

/** Variants of a JSON object with a field more, a field less, or a field at another place. */
export function jsonFieldVariants(text: string): Variant[] {
  const json = jsonValue(text) && membersOf(text);
  if (!json || json.members.length > MAX_KEYS) return [];
  return [...withNulls(json), ...withoutFields(json), ...moved(json)];
}

/** An object with more keys is not searched for single fields. */
const MAX_KEYS = 32;
/** At most this many fields of the contract are tried as null in every combination. */
const MAX_COMBINED_NULLS = 8;

const DROPPED =
  'Sign the bytes that you send: serialise once, with the settings that leave out empty fields.';

/** A field that the body could have: signed as null, and left out when the body was sent. */
function withNulls(json: JsonMembers): Variant[] {
  const names = json.members.map(({ name }) => name);
  const written = (name: string, value: string) => JSON.stringify(name) + json.colon + value;
  const dropped = (list: readonly string[], value: string) =>
    `${list.join(', ')} ${list.length === 1 ? 'was' : 'were'} signed as ${value} and left out of the sent body. ${DROPPED}`;
  const declared = bodiesWith(names).flatMap((fields) => {
    const missing = fields.filter((name) => !names.includes(name));
    return subsets(missing.slice(0, MAX_COMBINED_NULLS)).flatMap((added) => {
      const inOrder = names.concat(added).sort((a, b) => fields.indexOf(a) - fields.indexOf(b));
      const textOf = (name: string) =>
        json.members.find((member) => member.name === name)?.text ?? written(name, 'null');
      return [inOrder, [...names, ...added], beside(names, added, fields)].map((order) =>
        of(
          added.length === 1 || added.length === missing.length ? 1 : 2,
          'body-nulls',
          dropped(added, 'null'),
          json.joined(order.map(textOf)),
        ),
      );
    });
  });
  const texts = json.members.map((member) => member.text);
  const anywhere = [...new Set(CONTRACT_FIELDS.flat())]
    .filter((name) => !names.includes(name))
    .flatMap((name) =>
      ['null', 'false', '0', '""', '[]', '{}'].flatMap((value) =>
        [...texts, ''].map((_, at) =>
          of(
            3,
            'body-nulls',
            dropped([name], value),
            json.joined(texts.toSpliced(at, 0, written(name, value))),
          ),
        ),
      ),
    );
  return [...declared, ...anywhere];
}

/** The names as they are, with each added one behind the field that precedes it in the contract's order. */
function beside(names: readonly string[], added: readonly string[], fields: readonly string[]): string[] {
  return added.reduce<string[]>(
    (order, name) => {
      const previous = fields.slice(0, fields.indexOf(name)).findLast((field) => order.includes(field));
      return order.toSpliced(previous === undefined ? 0 : order.indexOf(previous) + 1, 0, name);
    },
    [...names],
  );
}

/** All subsets of the items but the empty one. */
function subsets(items: readonly string[]): string[][] {
  return Array.from({ length: 2 ** items.length - 1 }, (_, index) =>
    items.filter((__, bit) => ((index + 1) >> bit) % 2 === 1),
  );
}

/** One or two fields that were sent and not signed. */
function withoutFields(json: JsonMembers): Variant[] {
  const { members } = json;
  const without = (...dropped: number[]) => {
    const rest = members.filter((_, index) => !dropped.includes(index)).map(({ text }) => text);
    const names = dropped.map((index) => members[index]!.name).join(' and ');
    const areNull = dropped.every((index) => members[index]!.value === 'null');
    return areNull
      ? of(
          1,
          'body-nulls',
          `${names} was sent as null, and left out of the signed body. ${DROPPED}`,
          json.joined(rest),
        )
      : of(
          3,
          'body-field-added',
          `The body was sent with ${names}, which was not signed: it was added after the signing. Sign the bytes that you send.`,
          json.joined(rest),
        );
  };
  return members.flatMap((_, one) => [
    without(one),
    ...members.slice(one + 1).map((__, other) => without(one, one + 1 + other)),
  ]);
}

/** Each field moved to each other place, and each two fields swapped. */
function moved(json: JsonMembers): Variant[] {
  const texts = json.members.map(({ text }) => text);
  const orders = texts.flatMap((text, from) =>
    texts.flatMap((other, to) => [
      texts.toSpliced(from, 1).toSpliced(to, 0, text),
      texts.with(from, other).with(to, text),
    ]),
  );
  return orders.map((order) => of(3, 'body-key-order', OTHER_ORDER, json.joined(order)));
}
