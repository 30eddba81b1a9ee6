import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { ApiDocument, type Entry, type OpenApi } from '../docs/document.js';
import { OPERATOR, PROVIDER, type Reply, useWorld } from '../world/world.js';
import { ACCEPTED, type Fields } from './requests.js';

/** Levels of nesting: an object of that depth has almost 64 KiB, the limit of a body. */
const DEEP = 10_000;

let bodies: Body[];

/** An operation with a body, and a body that it accepts. */
interface Body {
  readonly entry: Entry;
  readonly example: Fields;
  /** The fields that the document calls integers or numbers. */
  readonly numbers: readonly string[];
}

const world = useWorld({ DOCS_ENABLED: 'true' });
beforeAll(async () => {
  const document = new ApiDocument((await world.request('/docs-json')).json as unknown as OpenApi);
  bodies = document.entries.flatMap((entry) => bodyOf(document, entry));
});

test('a number that is sent as a string is 400, in every numeric field of every body', async () => {
  const seen = new Set<string>();
  for (const { entry, example, numbers } of bodies)
    for (const field of numbers)
      for (const text of [String(example[field] ?? 1), '', 'x']) {
        const reply = await send(entry, JSON.stringify({ ...example, [field]: text }));
        expect({ name: entry.name, field, text, status: reply.status }).toMatchObject({ status: 400 });
        expect(reply.headers.get('x-error-code')).toBe('INVALID_REQUEST');
        expect(reply.json['error']).toMatch(new RegExp(`^${field} must be an integer`));
        seen.add(field);
      }
  const known = ['amountMinor', 'betAmountMinor', 'lateSettlementSeconds', 'overlapSeconds'];
  expect([...seen]).toEqual(
    expect.arrayContaining([...known, 'requestsPerSecond', 'spins', 'ttlSeconds', 'walletTimeoutMs']),
  );
});

test.each([
  ['lists', '['.repeat(DEEP) + ']'.repeat(DEEP)],
  ['objects', '{"a":'.repeat(DEEP) + 'null' + '}'.repeat(DEEP)],
])(
  'an unknown field of 10,000 nested %s is ignored from providers and 400 from others',
  async (_, nested) => {
    for (const { entry, example } of bodies) {
      const reply = await send(entry, JSON.stringify({ extra: 'X', ...example }).replace('"X"', nested));
      const isProviders = entry.audience === 'wallet';
      // The example's token names no session, so that an accepted body is answered by 401.
      expect({ name: entry.name, status: reply.status }).toMatchObject({ status: isProviders ? 401 : 400 });
      if (!isProviders) expect(reply.json['error']).toBe('"extra" is not a known field');
    }
  },
);

function bodyOf(document: ApiDocument, entry: Entry): Body[] {
  const schema = entry.operation.requestBody?.content['application/json']?.schema as
    { $ref: string } | undefined;
  if (!schema) return [];
  const name = schema.$ref.split('/').at(-1)!;
  const [, [example] = []] = [...ACCEPTED].find(([type]) => type.name === name) ?? [];
  if (!example) throw new Error(`${name} has no example in test/http/requests.ts`);
  const properties = document.propertiesOf(name)!;
  const numbers = Object.keys(properties).filter((field) =>
    [properties[field]!.type].flat().some((type) => type === 'integer' || type === 'number'),
  );
  return [{ entry, example, numbers }];
}

/** Sends a body as the audience of the operation does, with a path whose parameters are valid and name nothing. */
function send({ method, path, audience, operation }: Entry, body: string): Promise<Reply> {
  const target = path.replaceAll(/\{\w+\}/g, () => randomUUID());
  const [scheme = {}] = operation.security;
  if (Object.keys(scheme).some((name) => /signature/i.test(name))) {
    return world.signed(audience === 'wallet' ? PROVIDER : OPERATOR, target, body, { method });
  }
  return world.admin(method, target, body);
}
