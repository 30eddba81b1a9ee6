import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { diagnose, type SentRequest } from '../src/debug/diagnosis.js';
import { binaryDigestOf, RIGHT_DIGEST, RIGHT_LAYOUT, signedBytes } from '../src/debug/signing.js';
import { CONTRACT_FIELDS } from '../src/debug/variants/contract-fields.js';

const BODY = '{"sessionToken":"a","transactionId":"b","kind":"BET","amountMinor":5,"roundId":"r"}';
const REQUEST: SentRequest = {
  method: 'POST',
  path: '/v1/wallet/transaction?trace=1',
  headers: [
    ['Host', 'platform.example'],
    ['X-Tenant-ID', 'spinwell'],
    ['X-Timestamp', '1800000000'],
    ['X-Nonce', 'nonce-0001'],
    ['X-Signature', 'ab'.repeat(32)],
  ],
  body: Buffer.from(BODY),
  secret: 'dGhlIHNlY3JldA',
  now: 1_800_000_000,
  diagnosedAt: 1_900_000_000,
};

/** A clock that moves on at each look. */
function clock(stepMs: number, budgetMs: number) {
  let nowMs = 0;
  const shown: number[] = [];
  const limits = {
    usedMs: () => (nowMs += stepMs),
    deadlineMs: budgetMs,
    onProgress: (tried: number) => void shown.push(tried),
  };
  return { limits, shown };
}

describe('a search', () => {
  test('ends when its time is over, and says what was not tried', () => {
    const { limits, shown } = clock(1, 3);
    const { causes, untried, tried } = diagnose(REQUEST, limits);
    expect(causes.map(({ code }) => code)).toEqual(['unknown']);
    expect(untried).toEqual([
      'single mistakes',
      'pairs of common mistakes',
      'two mistakes in the path or in the key',
      'every order of the 5 keys of the JSON',
      'pairs of a common and a rare mistake',
      'pairs of rare mistakes',
    ]);
    expect(causes[0]?.explanation).toContain(`Not tried: ${untried.join('; ')}.`);
    expect(shown.length).toBeGreaterThan(0);
    expect(tried).toBeLessThan(10_000);
  });

  test('looks at the clock more often if the body is large', () => {
    const body = Buffer.from(JSON.stringify({ a: 'x'.repeat(60_000), b: Array<number>(500).fill(7) }));
    const { limits } = clock(1, 20);
    const { causes, tried } = diagnose({ ...REQUEST, body }, limits);
    expect(causes.map(({ code }) => code)).toEqual(['unknown']);
    expect(tried).toBeLessThan(400);
  });

  test('of a body that is larger still leaves out its spellings, and says so', () => {
    const body = Buffer.from(JSON.stringify({ a: 'x'.repeat(200_000) }));
    const { untried } = diagnose({ ...REQUEST, body }, clock(1, 20).limits);
    expect(untried).toContain('other spellings of a body of more than 128 KiB');
  });

  test('without a Host says that whole addresses were not tried', () => {
    const headers = REQUEST.headers.filter(([name]) => name !== 'Host');
    const { untried } = diagnose({ ...REQUEST, headers }, clock(1, 3).limits);
    expect(untried.at(-1)).toContain("--header 'Host: …'");
  });

  test('of a body that is nested deeply ends', () => {
    const body = Buffer.from('['.repeat(30_000) + ']'.repeat(30_000));
    const { causes } = diagnose({ ...REQUEST, body }, clock(1, 20).limits);
    expect(causes.map(({ code }) => code)).toEqual(['unknown']);
  });

  test('names another key if the right bytes were signed', () => {
    const { limits } = clock(1, 3);
    const { canonical } = diagnose(REQUEST, limits);
    const { causes } = diagnose({ ...REQUEST, claimedBytes: canonical }, clock(1, 3).limits);
    expect(causes.map(({ code }) => code)).toEqual(['key-other']);
  });
});

test.each([
  ['all', ['roundClosed', 'originalTransactionId', 'freeSpinsRef', 'winKind', 'promotionRef']],
  ['some', ['roundClosed', 'freeSpinsRef']],
])('%s nulls are found among fields that were sent in an order of their own', (_, dropped) => {
  const sent = {
    sessionToken: 'a',
    playerRef: 'p',
    gameId: 'g',
    currency: 'EUR',
    transactionId: 'b',
    kind: 'BET',
    roundId: 'r',
  };
  const nulls = Object.fromEntries(dropped.map((name) => [name, null]));
  const signed = JSON.stringify({ ...sent, ...nulls, amountMinor: 5 });
  const signature = createHmac('sha256', REQUEST.secret)
    .update(`POST\n${REQUEST.path}\n1800000000\nnonce-0001\n${signed}`)
    .digest('hex');
  const headers = REQUEST.headers.map(([name, value]): [string, string] => [
    name,
    name === 'X-Signature' ? signature : value,
  ]);
  const body = Buffer.from(JSON.stringify({ ...sent, amountMinor: 5 }));
  const { causes } = diagnose({ ...REQUEST, headers, body }, clock(1, 40).limits);
  expect(causes.map(({ code }) => code)).toEqual(['body-nulls']);
  expect(causes[0]?.explanation).toContain(`${dropped.join(', ')} were signed as null`);
});

test.each([0, 1, 63, 64, 65, 200])('the fast digest is an HMAC-SHA256: a key of %i bytes', (length) => {
  const signing = {
    method: 'POST',
    path: '/ü',
    timestamp: '1',
    nonce: 'n',
    tenant: 't',
    body: Buffer.alloc(40_000, 'ë'),
    key: Buffer.alloc(length, 'k'),
    layout: RIGHT_LAYOUT,
    digest: RIGHT_DIGEST,
  };
  const digest = createHmac('sha256', signing.key).update(signedBytes(signing)).digest('binary');
  expect(binaryDigestOf(signing)).toBe(digest);
});

interface Schema {
  $ref?: string;
  properties?: Record<string, unknown>;
  oneOf?: Schema[];
}
interface Operation {
  requestBody?: { content: Record<string, { schema: Schema }> };
}

test('the fields of signed bodies are those of the OpenAPI documents, in their order', async () => {
  for (const name of ['provider', 'operator', 'operator-wallet']) {
    const document = JSON.parse(
      await readFile(new URL(`../../docs/openapi/${name}.json`, import.meta.url), 'utf8'),
    ) as {
      paths?: Record<string, Record<string, Operation>>;
      webhooks?: Record<string, Record<string, Operation>>;
      components: { schemas: Record<string, Schema> };
    };
    const resolved = (schema: Schema): Schema =>
      schema.$ref ? resolved(document.components.schemas[schema.$ref.split('/').at(-1)!]!) : schema;
    const operations = [document.paths, document.webhooks].flatMap((each) =>
      Object.values(each ?? {}).flatMap((item) => Object.values(item)),
    );
    for (const { requestBody } of operations) {
      const [content] = Object.values(requestBody?.content ?? {});
      const schema = content && resolved(content.schema);
      for (const each of [schema, ...(schema?.oneOf ?? []).map(resolved)]) {
        const fields = Object.keys(each?.properties ?? {});
        const known = CONTRACT_FIELDS.some((list) => {
          const common = list.filter((field) => fields.includes(field));
          return common.join() === fields.join();
        });
        expect({ name, fields, known }).toEqual({ name, fields, known: true });
      }
    }
  }
});
