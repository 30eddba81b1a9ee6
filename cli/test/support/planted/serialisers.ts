import { kind, type PlantedMistake } from './call.js';
import { python } from './json.js';

/** A BET with the fields of the contract, in the order of its document. */
const BET = {
  sessionToken: 'kX0aB3',
  transactionId: 'bet-77',
  kind: 'BET',
  playerRef: 'player-1',
  gameId: 'lotus',
  currency: 'EUR',
  amountMinor: 250,
  roundId: 'round-9',
};
/** The fields of a BET in the order of the provider's guide, but the last one. */
const GUIDES_BET = {
  sessionToken: 'kX0aB3',
  playerRef: 'player-1',
  gameId: 'lotus',
  currency: 'EUR',
  transactionId: 'bet-77',
  kind: 'BET',
  roundId: 'round-9',
};
const AMOUNT = { amountMinor: 250 };
const GRANT = {
  requestRef: 'grant-1',
  playerRef: 'player-1',
  gameId: 'lotus',
  spins: 10,
  betAmountMinor: 20,
  currency: 'EUR',
};

type Fields = Record<string, unknown>;
const reordered = (value: Fields, names: readonly string[]) =>
  JSON.stringify(Object.fromEntries(names.map((name) => [name, value[name]])));
const byName = (value: Fields) => reordered(value, Object.keys(value).sort());

/** The order in which `java.util.HashMap` iterates: by the low bits of the spread hash. */
function javaOrder(value: Fields): string {
  const buckets: string[][] = Array.from({ length: 16 }, () => []);
  for (const name of Object.keys(value)) {
    const hash = [...name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 2 ** 32, 0);
    buckets[((hash ^ (hash >>> 16)) >>> 0) % 16]!.push(name);
  }
  return reordered(value, buckets.flat());
}

/** A body that was signed and another that was sent. */
const bodies = (
  name: string,
  codes: string | readonly string[],
  signed: string | Buffer,
  sent: string | Buffer,
) => kind(name, codes, () => ({ parts: { body: signed }, sent: { body: sent } }));

const bet = JSON.stringify(BET);
const latin = '{"playerRef":"Zoë Grün","amountMinor":5}';

/** Mistakes of serialisers in other languages: what was signed, and what was sent. */
export const SERIALISERS: readonly PlantedMistake[] = [
  bodies('BET sorted when signed', 'body-key-order', byName(BET), bet),
  bodies('BET sorted when sent', 'body-key-order', bet, byName(BET)),
  bodies('BET in a HashMap when signed', 'body-key-order', javaOrder(BET), bet),
  bodies('BET in a HashMap when sent', 'body-key-order', bet, javaOrder(BET)),
  bodies('BET in a HashMap when sent, sorted when signed', 'body-key-order', byName(BET), javaOrder(BET)),
  bodies(
    'BET in any order when sent',
    'body-key-order',
    bet,
    reordered(
      BET,
      'roundId kind gameId sessionToken amountMinor playerRef transactionId currency'.split(' '),
    ),
  ),
  bodies(
    'BET in any order when signed',
    'body-key-order',
    reordered(
      BET,
      'currency transactionId playerRef amountMinor sessionToken gameId kind roundId'.split(' '),
    ),
    bet,
  ),
  bodies(
    'grant in any order when signed and when sent',
    'body-key-order',
    reordered(GRANT, 'spins gameId currency requestRef betAmountMinor playerRef'.split(' ')),
    reordered(GRANT, 'playerRef betAmountMinor requestRef spins currency gameId'.split(' ')),
  ),
  bodies('grant sorted when sent', 'body-key-order', JSON.stringify(GRANT), byName(GRANT)),
  bodies('sorted by Python when sent', 'body-key-order+body-whitespace', bet, python(byName(BET))),
  bodies('sorted by Python when signed', 'body-key-order+body-whitespace', python(byName(BET)), bet),
  bodies(
    'sorted and indented when sent',
    'body-key-order+body-whitespace',
    bet,
    JSON.stringify(JSON.parse(byName(BET)), null, 2),
  ),
  bodies(
    'indented in another order when both',
    'body-key-order',
    JSON.stringify(BET, null, 2),
    JSON.stringify(JSON.parse(javaOrder(BET)), null, 2),
  ),
  ...['originalTransactionId', 'freeSpinsRef', 'roundClosed', 'promotionRef'].map((name) =>
    bodies(`${name} null behind the others`, 'body-nulls', JSON.stringify({ ...BET, [name]: null }), bet),
  ),
  bodies(
    'null in the order of the class',
    'body-nulls',
    JSON.stringify({
      sessionToken: 's',
      transactionId: 'w1',
      kind: 'WIN',
      amountMinor: 5,
      roundId: 'r',
      roundClosed: null,
      winKind: 'FREE_SPIN',
    }),
    JSON.stringify({
      sessionToken: 's',
      transactionId: 'w1',
      kind: 'WIN',
      amountMinor: 5,
      roundId: 'r',
      winKind: 'FREE_SPIN',
    }),
  ),
  bodies(
    'all nulls of a class of Jackson',
    'body-nulls',
    JSON.stringify({
      ...BET,
      roundClosed: null,
      originalTransactionId: null,
      freeSpinsRef: null,
      winKind: null,
      promotionRef: null,
    }),
    bet,
  ),
  bodies(
    'two nulls of a record of .NET',
    'body-nulls',
    JSON.stringify({ ...BET, originalTransactionId: null, freeSpinsRef: null }),
    bet,
  ),
  bodies(
    'nulls of a class with the order of its own',
    'body-nulls',
    JSON.stringify({ ...GUIDES_BET, roundClosed: null, freeSpinsRef: null, ...AMOUNT }),
    JSON.stringify({ ...GUIDES_BET, ...AMOUNT }),
  ),
  bodies(
    'an amount of null in a ROLLBACK',
    'body-nulls',
    '{"sessionToken":"s","transactionId":"x","kind":"ROLLBACK","amountMinor":null,"roundId":"r","originalTransactionId":"b"}',
    '{"sessionToken":"s","transactionId":"x","kind":"ROLLBACK","roundId":"r","originalTransactionId":"b"}',
  ),
  bodies('null in Python', 'body-nulls', python(JSON.stringify({ ...BET, freeSpinsRef: null })), python(bet)),
  bodies('null that was sent only', 'body-nulls', bet, JSON.stringify({ ...BET, extra: null })),
  bodies('one of two nulls sent only', 'body-nulls', '{"a":null,"b":1}', '{"a":null,"b":1,"c":null}'),
  bodies('an optional text that is empty', 'body-nulls', JSON.stringify({ ...BET, freeSpinsRef: '' }), bet),
  bodies('false left out', 'body-nulls', JSON.stringify({ ...BET, roundClosed: false }), bet),
  bodies('a trace id added on the way', 'body-field-added', bet, JSON.stringify({ ...BET, traceId: 'a1' })),
  bodies(
    'two fields added on the way',
    'body-field-added',
    bet,
    JSON.stringify({ ts: 5, ...BET, traceId: 'a1' }),
  ),
  bodies('Latin-1 sent', 'body-latin1', latin, Buffer.from(latin, 'latin1')),
  bodies('Latin-1 signed', 'body-latin1', Buffer.from(latin, 'latin1'), latin),
  bodies('UTF-8 twice sent', 'body-utf8-twice', latin, Buffer.from(latin).toString('latin1')),
  bodies('UTF-8 twice signed', 'body-utf8-twice', Buffer.from(latin).toString('latin1'), latin),
  bodies(
    'Windows-1252 sent',
    'body-latin1',
    '{"name":"20 €"}',
    Buffer.concat([Buffer.from('{"name":"20 '), Buffer.from([0x80]), Buffer.from('"}')]),
  ),
  bodies('UTF-16 sent', 'body-utf16', bet, Buffer.from(bet, 'utf16le')),
  bodies('UTF-16 with its mark sent', 'body-utf16', bet, Buffer.from(`\ufeff${bet}`, 'utf16le')),
  bodies(
    'parsed and serialised again, whitespace',
    ['body-serialised', 'body-whitespace'],
    '{"amountMinor":5,"kind":"BET"}',
    '{ "amountMinor":5,  "kind":"BET" }',
  ),
  bodies(
    'parsed and serialised again, numbers',
    ['body-serialised', 'body-numbers'],
    '{"amountMinor":5,"rate":0.5}',
    '{"amountMinor":5.0,"rate":0.50}',
  ),
  bodies(
    'parsed and serialised again, escapes',
    ['body-serialised', 'body-escapes'],
    '{"url":"https://a/b","name":"Zoë"}',
    '{"url":"https:\\/\\/a\\/b","name":"Zo\\u00EB"}',
  ),
  bodies(
    'parsed and serialised again, large number',
    ['body-serialised', 'body-numbers'],
    '{"id":12345678901234567000}',
    '{"id":12345678901234567890}',
  ),
  bodies(
    'parsed and serialised again, key given twice',
    ['body-serialised', 'body-field-added'],
    '{"a":2,"b":1}',
    '{"a":1,"b":1,"a":2}',
  ),
  bodies('empty object of PHP', 'body-serialised', '{"a":1,"meta":[]}', '{"a":1,"meta":{}}'),
];
