import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ReceivedCall } from '../world/counterpart.js';
import { OPERATOR, useWorld } from '../world/world.js';
import { ApiDocument, type OpenApi } from './document.js';

/** Contract, section 4: compares the documents of the calls to an operator's wallet with the actual calls. */

interface Call {
  security: Record<string, unknown>[];
  requestBody: { content: Media };
  responses: Record<string, { content: Media }>;
}

type Media = Record<
  'application/json',
  { schema: { $ref: string }; examples: Record<string, { value: object }> }
>;

let document: ApiDocument;
let calls: Record<string, { post: Call }>;

const world = useWorld({ DOCS_ENABLED: 'true' });
beforeAll(async () => {
  const json = (await world.request('/docs/operator-wallet-json')).json as unknown as OpenApi;
  document = new ApiDocument(json);
  calls = json.paths as unknown as typeof calls;
  await playEverything();
});

/** Causes each kind of call, with each possible field. */
async function playEverything(): Promise<void> {
  const session = await world.launch();
  const bet = world.transaction(session, 'BET');
  await world.submit(bet);
  await world.submit(world.transaction(session, 'WIN', { roundId: bet['roundId'], roundClosed: true }));
  await world.submit(world.transaction(session, 'WIN', { freeSpinsRef: 'spins-7' }));
  const undone = world.transaction(session, 'BET');
  await world.submit(undone);
  for (const target of [undone, world.transaction(session, 'BET')]) {
    const { transactionId: originalTransactionId, roundId } = target;
    await world.submit(world.transaction(session, 'ROLLBACK', { originalTransactionId, roundId }));
  }
  await world.submit(world.transaction(session, 'WIN', { winKind: 'JACKPOT', promotionRef: 'mega' }));
  await world.submit(world.transaction(session, 'BET', { amountMinor: 10 ** 12 }));
  await world.balance(session);
  const { playerRef, currency } = session;
  const correction = { adjustmentId: 'a-1', operatorId: OPERATOR, playerRef, currency, reason: 'a test' };
  await world.admin('POST', '/v1/admin/adjustments', { ...correction, amountMinor: -5 });
}

const received = (route: string): ReceivedCall[] =>
  world.wallet.received.filter(({ path }) => path === route);
const schemaOf = (media: Media): string[] => media['application/json'].schema.$ref.split('/').slice(1);
const fieldsOf = (media: Media): string[] => Object.keys(document.propertiesOf(schemaOf(media).at(-1)!)!);

test('the document has the two calls, which the documents of operators have as webhooks', async () => {
  expect(Object.keys(calls)).toEqual(['/transaction', '/balance']);
  for (const path of ['/docs-json', '/docs/operator-json']) {
    const { webhooks = {} } = (await world.request(path)).json as unknown as OpenApi;
    expect(webhooks, path).toMatchObject(calls);
  }
  for (const path of ['/docs/provider-json', '/docs/admin-json'])
    expect((await world.request(path)).json['webhooks'] ?? {}).not.toHaveProperty(['/transaction']);
});

describe.each(['/transaction', '/balance'])('%s', (route) => {
  test('sends exactly the documented fields', () => {
    const { requestBody, security } = calls[route]!.post;
    const sent = received(route);
    expect(sent.flatMap(({ json }) => document.invalid(schemaOf(requestBody.content), json))).toEqual([]);
    const seen = new Set(sent.flatMap(({ json }) => Object.keys(json)));
    expect(fieldsOf(requestBody.content).filter((field) => !seen.has(field))).toEqual([]);
    const schemes = Object.keys(security[0]!).map((name) => document.json.components.securitySchemes[name]!);
    expect(schemes.map(({ name }) => name)).toEqual(['X-Tenant-ID', 'X-Timestamp', 'X-Nonce', 'X-Signature']);
    for (const { headers } of sent)
      for (const { name = '' } of schemes) expect(headers, name).toHaveProperty(name.toLowerCase());
    expect(sent.some(({ headers }) => 'x-request-id' in headers)).toBe(true);
  });

  test('has examples which its schemas accept', () => {
    const { requestBody, responses } = calls[route]!.post;
    for (const content of [requestBody.content, responses['200']!.content]) {
      const examples = Object.values(content['application/json'].examples);
      expect(examples.length).toBeGreaterThan(0);
      for (const { value } of examples) expect(document.invalid(schemaOf(content), value)).toEqual([]);
    }
  });
});

test('every kind of transaction was sent', () => {
  const kinds = new Set(received('/transaction').map(({ json }) => json['kind']));
  expect([...kinds].sort()).toEqual(['ADJUSTMENT', 'BET', 'ROLLBACK', 'WIN']);
});

/** Stands for the transactionId of the request. */
const MATCHING = 'matching';

test("an answer counts as the wallet's decision if and only if the document accepts it", async () => {
  const session = await world.launch();
  const { content } = calls['/transaction']!.post.responses['200']!;
  const answer = fc.record(
    {
      transactionId: fc.constantFrom<unknown>(MATCHING, MATCHING, MATCHING, 1, null),
      status: fc.constantFrom<unknown>('APPROVED', 'DECLINED', 'PENDING', 'approved', null, 1),
      balance: fc.constantFrom<unknown>(0, -1, 99750, 2 ** 53 - 1, 2 ** 53, 1.5, '100', null),
      reason: fc.constantFrom('INSUFFICIENT_FUNDS', 'words'),
      operatorTransactionId: fc.constant('w-1'),
    },
    { requiredKeys: [] },
  );
  const outcomes = new Set<number>();
  await fc.assert(
    fc.asyncProperty(answer, async (body) => {
      const win = world.transaction(session, 'WIN', { amountMinor: 0 });
      if (body.transactionId === MATCHING) body.transactionId = win.transactionId;
      world.wallet.next({ do: 'answer', status: 200, body: JSON.stringify(body) });
      const { status } = await world.submit(win);
      const valid = document.invalid(schemaOf(content), body).length === 0;
      expect({ body, status }).toEqual({ body, status: valid ? 200 : 500 });
      outcomes.add(status);
    }),
    // Random answers alone may all be invalid.
    { numRuns: 60, examples: [[{ transactionId: MATCHING, status: 'APPROVED', balance: 0 }]] },
  );
  expect([...outcomes].sort()).toEqual([200, 500]);
});
