import { Logger } from '@nestjs/common';
import { expect, test, vi } from 'vitest';
import { Resolver } from '../../src/wallet/resolving/resolver.js';
import { GAME, OPERATOR, PROVIDER, type Reply, useWorld } from '../world/world.js';
import { PATIENCE } from '../world/patience.js';

const raw: string[] = [];
const lines: Record<string, unknown>[] = [];

const world = useWorld(
  { LOG_LEVEL: 'info' },
  {
    write: (line: string) => {
      raw.push(line);
      lines.push(JSON.parse(line) as Record<string, unknown>);
    },
  },
);

/** The lines of a request, once its last one is written. */
async function linesOf(reply: { headers: Headers }): Promise<Record<string, unknown>[]> {
  const requestId = reply.headers.get('x-request-id');
  const ofRequest = () => lines.filter((line) => line['requestId'] === requestId);
  await vi.waitFor(
    () => expect(ofRequest().some((line) => line['context'] === 'Request')).toBe(true),
    PATIENCE,
  );
  return ofRequest();
}

test('every line of a provider’s call has its tenant, address, route and ids', async () => {
  const session = await world.launch();
  const bet = world.transaction(session, 'BET');
  world.wallet.next({ do: 'drop' }, { transactionId: bet.transactionId });
  const written = await linesOf(await world.submit(bet));
  expect(written.map(({ msg }) => msg)).toEqual([
    'no valid answer from the wallet',
    'POST /v1/wallet/transaction OPERATOR_UNAVAILABLE',
  ]);
  expect(written[0]).toMatchObject({ detail: 'UND_ERR_SOCKET', systemMessage: 'other side closed' });
  for (const line of written) {
    expect(line).toMatchObject({
      tenant: PROVIDER,
      address: '127.0.0.1',
      route: 'POST /v1/wallet/transaction',
      transactionId: bet.transactionId,
      roundId: bet.roundId,
      operatorId: OPERATOR,
      sessionId: session.sessionId,
    });
    expect(line).not.toHaveProperty('actor');
  }
});

test('reads of a session name it', async () => {
  const session = await world.launch();
  const [line] = await linesOf(await world.balance(session));
  expect(line).toMatchObject({ tenant: PROVIDER, sessionId: session.sessionId, operatorId: OPERATOR });
});

test('a request’s line has the duration of each of its parts', async () => {
  const session = await world.launch();
  const partsOf = async (reply: Promise<Reply>) =>
    Object.keys((await linesOf(await reply)).at(-1)!['parts']!);
  const verify = world.signed(PROVIDER, '/v1/wallet/session/verify', {
    sessionToken: session.sessionToken,
    gameId: GAME,
  });
  expect(await partsOf(verify)).toEqual(['signature', 'load']);
  expect(await partsOf(world.balance(session))).toEqual(['signature', 'load', 'operator']);
  expect(await partsOf(world.admin('GET', '/v1/admin/providers'))).toEqual(['reads']);
  expect(await partsOf(world.admin('PATCH', '/v1/admin/limits/*/EUR', { dailyMinor: 1 }))).toEqual([
    'changes',
  ]);
});

test('an operator’s call names its path', async () => {
  const { sessionId } = await world.launch();
  const written = await linesOf(await world.revoke(sessionId));
  expect(written.length).toBeGreaterThanOrEqual(2);
  for (const line of written) {
    expect(line).toMatchObject({
      tenant: OPERATOR,
      address: '127.0.0.1',
      route: 'POST /v1/operator/sessions/:sessionId/revoke',
      path: `/v1/operator/sessions/${sessionId}/revoke`,
    });
  }
});

test('an administrator’s request has the actor, the address and the path', async () => {
  const written = await linesOf(
    await world.admin('PATCH', `/v1/admin/operators/${OPERATOR}`, { name: 'Lucky' }),
  );
  expect(written.map(({ msg }) => msg)).toContain('audit operator.change');
  for (const line of written) {
    expect(line).toMatchObject({
      actor: 'root',
      address: '127.0.0.1',
      route: 'PATCH /v1/admin/operators/:id',
    });
  }
  expect(written.at(-1)).toMatchObject({ role: 'admin', path: `/v1/admin/operators/${OPERATOR}` });
});

test('a 403 has its actor and its route', async () => {
  const { actor, call } = await world.administrator('support');
  const reply = await call('POST', `/v1/admin/providers/${PROVIDER}/secret/rotate`, {});
  expect(reply.status).toBe(403);
  expect((await linesOf(reply)).at(-1)).toMatchObject({
    actor,
    role: 'support',
    address: '127.0.0.1',
    outcome: 'FORBIDDEN',
    route: 'POST /v1/admin/providers/:id/secret/rotate',
    path: `/v1/admin/providers/${PROVIDER}/secret/rotate`,
  });
});

test('the address is the one that a trusted proxy names, and an unauthenticated caller has no other fields', async () => {
  const reply = await world.request('/v1/admin/keys', { headers: { Authorization: 'Bearer wrong' } });
  const [refused] = await linesOf(reply);
  expect(refused).toMatchObject({
    msg: 'admin key refused',
    address: '127.0.0.1',
    route: 'GET /v1/admin/keys',
  });
  expect(refused).not.toHaveProperty('actor');
});

test.each([
  ['an unknown path', 'GET', '/v1/rgs/behavior', '/v1/rgs/behavior'],
  ['the query, which may contain secrets', 'GET', '/v1/nothing?token=secret', '/v1/nothing'],
  ['a long path', 'GET', `/${'x'.repeat(300)}`, `/${'x'.repeat(199)}`],
  ['an unknown method of a route', 'DELETE', '/v1/wallet/transaction', '/v1/wallet/transaction'],
  ['a path that cannot be decoded', 'POST', '/v1/%ff', '/v1/%ff'],
])(
  'the line of an unknown route has its method and path, without a query: %s',
  async (_, method, path, logged) => {
    const reply = await world.request(path, { method });
    expect(reply.status).toBe(404);
    const written = await linesOf(reply);
    expect(written.at(-1)).toMatchObject({ route: 'unknown', method, path: logged, outcome: 'NOT_FOUND' });
    expect(JSON.stringify(written)).not.toContain('secret');
  },
);

test('the line of a known route has no method of its own', async () => {
  expect((await linesOf(await world.request('/v1/admin/keys'))).at(-1)).not.toHaveProperty('method');
});

test('foreign text in a line is escaped, and a parser of the line reads it as it was', async () => {
  new Logger('Test').log({ msg: 'foreign', detail: '\u202e\u2028\u0085\u007f\u001b' });
  await vi.waitFor(() => expect(raw.some((line) => line.includes('"foreign"'))).toBe(true), PATIENCE);
  const line = raw.find((each) => each.includes('"foreign"'))!;
  expect(line).toContain(String.raw`"\u202e\u2028\u0085\u007f\u001b"`);
  expect(line.trimEnd()).not.toMatch(/[\p{Cc}\u2028-\u202e]/u);
  expect(JSON.parse(line)).toMatchObject({ detail: '\u202e\u2028\u0085\u007f\u001b' });
});

test('the lines of a resolution name the resolver and the transaction', async () => {
  const session = await world.launch();
  const win = world.transaction(session, 'WIN');
  world.wallet.next({ do: 'drop' }, { transactionId: win.transactionId });
  await world.submit(win);
  await world.sql.run(
    `UPDATE transactions SET updated_at = updated_at - interval '2 minutes' WHERE transaction_id = $1`,
    [win.transactionId],
  );
  await world.app.get(Resolver).tick();
  const line = lines.find(
    ({ msg, transactionId }) => msg === 'transaction resolved' && transactionId === win.transactionId,
  );
  expect(line).toMatchObject({ actor: 'resolver', operatorId: OPERATOR, providerId: PROVIDER });
  expect(line?.['requestId']).toMatch(/^resolver-/);
});

test('a grant’s line has its requestRef', async () => {
  const grant = {
    operatorId: OPERATOR,
    playerRef: 'p-1',
    gameId: GAME,
    spins: 1,
    betAmountMinor: 1,
    currency: 'EUR',
  };
  const reply = await world.admin('POST', '/v1/admin/free-spins', { ...grant, requestRef: 'ref-of-a-line' });
  expect((await linesOf(reply)).at(-1)).toMatchObject({ requestRef: 'ref-of-a-line', operatorId: OPERATOR });
});
