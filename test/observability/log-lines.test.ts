import { Logger } from '@nestjs/common';
import { Client } from 'pg';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { QueueStore } from '../../src/free-spins/queue/queue.store.js';
import { Resolver } from '../../src/wallet/resolving/resolver.js';
import { BATCHES, batchOrder } from '../approvals/desk.js';
import { Tool } from '../free-spins/tool.js';
import { PATIENCE } from '../world/patience.js';
import { CANCEL, GRANT, STATUS } from '../world/provider.js';
import { GAME, OPERATOR, OTHER_OPERATOR, PROVIDER, type Reply, useWorld } from '../world/world.js';

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

test('the line about the rest of a batch whose expiresAt has passed does not advise a resend', async () => {
  // The workers find the expired grants, not the next poll.
  const polls = vi.spyOn(world.app.get(QueueStore), 'failExpired').mockResolvedValue(0);
  onTestFinished(() => polls.mockRestore());
  const held = world.provider.always({ do: 'hold' }, { path: GRANT });
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const order = batchOrder(20, { currency: 'SEK', expiresAt });
  const { batchId } = (await world.admin('POST', BATCHES, order)).json;
  const players = new Set<unknown>(order.playerRefs);
  const isCalled = () => world.provider.calls(GRANT).some(({ json }) => players.has(json['playerRef']));
  await vi.waitUntil(isCalled, PATIENCE);
  await world.sql.run(
    `UPDATE free_spin_grants SET expires_at = clock_timestamp() - interval '1 minute' WHERE batch_id = $1`,
    [batchId],
  );
  held.withdraw();
  held.release();
  const line = await vi.waitUntil(
    () => lines.find((each) => each['batchId'] === batchId && each['players'] !== undefined),
    PATIENCE,
  );
  expect(line).toMatchObject({
    msg: 'the remaining grants of a batch were not sent and are FAILED: only a new batch can grant these spins',
    error: 'not sent: its expiresAt has passed',
  });
});

describe('a line about work of others than the request that started it names no request:', () => {
  /** The first line with these fields; it has none of a request. */
  async function lineOfNoRequest(fields: Record<string, unknown>): Promise<Record<string, unknown>> {
    const line = await vi.waitUntil(
      () => lines.find((each) => Object.entries(fields).every(([name, value]) => each[name] === value)),
      PATIENCE,
    );
    for (const field of ['requestId', 'tenant', 'address', 'route']) expect(line).not.toHaveProperty(field);
    return line;
  }

  /** In a currency that another test does not limit. */
  const order = (players: number) => batchOrder(players, { currency: 'SEK' });

  test('a batch that is given up', async () => {
    const down = world.provider.always({ do: 'drop' }, { path: GRANT });
    onTestFinished(() => down.withdraw());
    const { operatorId, ...body } = order(40);
    const { batchId } = (await world.signed(OPERATOR, '/v1/operator/free-spins/batches', body)).json;
    const msg = 'the remaining grants of a batch were not sent and are FAILED: resend the batch later';
    expect(await lineOfNoRequest({ msg, batchId })).toMatchObject({ operatorId, providerId: PROVIDER });
  });

  test.each<['status' | 'cancel', typeof STATUS | typeof CANCEL, string]>([
    [
      'status',
      STATUS,
      'the provider does not answer, so it was not asked about the remaining grants of a batch',
    ],
    [
      'cancel',
      CANCEL,
      'the provider does not answer, so the remaining cancels of a batch were not sent: cancel the batch again later',
    ],
  ])('a %s of a batch that is given up', async (action, path, msg) => {
    const { batchId } = (await world.admin('POST', BATCHES, order(40))).json;
    const batch = `/v1/operator/free-spins/batches/${String(batchId)}`;
    const granted = async () => (await world.signedGet(OPERATOR, `${batch}?items=false`)).json['granted'];
    await vi.waitFor(async () => expect(await granted()).toBe(40), PATIENCE);
    const down = world.provider.always({ do: 'drop' }, { path });
    onTestFinished(() => down.withdraw());
    await world.signed(OPERATOR, `${batch}/${action}`, {});
    expect(await lineOfNoRequest({ msg, batchId })).toMatchObject({ operatorId: OPERATOR });
  });

  test("another operator's grant whose outcome is not known", async () => {
    const tool = new Tool(world);
    const body = tool.order({ currency: 'SEK' });
    const { requestRef } = body;
    const held = world.provider.next({ do: 'hold' }, { path: GRANT, requestRef });
    const granted = tool.post(body);
    await held.arrived;
    await tool.endLease(requestRef);
    await world.signedGet(OTHER_OPERATOR, '/v1/operator/free-spins');
    const line = await lineOfNoRequest({ msg: 'the outcome of a grant callback is not known', requestRef });
    expect(line).toMatchObject({ operatorId: OPERATOR, providerId: PROVIDER });
    held.release();
    await granted;
  });

  test('notifications that are interrupted', async () => {
    const { playerRef } = await world.launch();
    await world.sql.run(`
      CREATE FUNCTION refuse_claim() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no claim'; END $$;
      CREATE TRIGGER refuse_claim BEFORE UPDATE ON session_revocations FOR EACH ROW EXECUTE FUNCTION refuse_claim()`);
    await world.signed(OPERATOR, `/v1/operator/players/${playerRef}/revoke-sessions`, { reason: 'KICK' });
    await world.sql.run('DROP FUNCTION refuse_claim CASCADE');
    await lineOfNoRequest({ msg: 'notifications interrupted', providerId: PROVIDER });
  });

  test('a statement of group commit that is retried', async () => {
    const bet = world.transaction(await world.launch(), 'BET');
    const held = world.wallet.next({ do: 'hold' }, { transactionId: bet.transactionId });
    const submitted = world.submit(bet);
    await held.arrived;
    const others = new Client({ connectionString: world.databaseUrl });
    await others.connect();
    await others.query('BEGIN');
    await others.query('SELECT FROM transactions WHERE transaction_id = $1 FOR UPDATE', [bet.transactionId]);
    held.release();
    await lineOfNoRequest({ msg: 'statement failed, retrying it' });
    await others.query('COMMIT');
    await others.end();
    expect((await submitted).json).toMatchObject({ status: 'APPROVED' });
  });
});
