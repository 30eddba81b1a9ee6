import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { QueueRunner } from '../../src/free-spins/queue/queue.runner.js';
import { CLAIM_DUE_CANCEL, CLAIM_UNSENT, FAIL_EXPIRED } from '../../src/free-spins/queue/queue.store.js';
import { BATCHES, batchOrder } from '../approvals/desk.js';
import { nodesOn, Planner, rowsTouched } from '../world/plan.js';
import { CANCEL, GRANT, STATUS } from '../world/provider.js';
import { FOREIGN_GAME, GAME, OPERATOR, OTHER_OPERATOR, PROVIDER, useWorld } from '../world/world.js';
import { CALLS_AT_ONCE, Tool, until } from './tool.js';

/** More than one statement of a pass changes. */
const MANY = 2_100;
const FEW = 5;
/** Cancels that one instance sends at once; the other calls of the 8 are for grants. */
const CANCELS_AT_ONCE = 6;

const world = useWorld({ CALLBACK_TIMEOUT_MS: '600000' });
const tool = new Tool(world);

/** Records grants beside the application. */
async function record(count: number, operatorId: string, columns: Record<string, string>): Promise<string> {
  const prefix = randomUUID();
  const values = {
    request_ref: `'${prefix}-' || n`,
    operator_id: `'${operatorId}'`,
    provider_id: `'${PROVIDER}'`,
    player_ref: `'player-${prefix}-' || n`,
    game_id: `'${GAME}'`,
    spins: '1',
    bet_amount_minor: '0',
    currency: `'EUR'`,
    ...columns,
  };
  await world.sql.run(
    `INSERT INTO free_spin_grants (${Object.keys(values).join(', ')})
     SELECT ${Object.values(values).join(', ')} FROM generate_series(1, ${count}) n`,
  );
  return prefix;
}

const UNSENT = { state: `'PENDING'`, attempt: '0' };
const GRANTED = {
  state: `'GRANTED'`,
  attempt: '1',
  external_ref: `'batch-' || gen_random_uuid()`,
  granted_at: 'clock_timestamp()',
};

const countOf = async (prefix: string, condition: string) =>
  (
    await world.sql.run<{ count: number }>(
      `SELECT count(*)::int AS count FROM free_spin_grants WHERE request_ref LIKE $1 AND ${condition}`,
      [`${prefix}-%`],
    )
  )[0]!.count;

const look = () => world.app.get(QueueRunner).wake();

/** The calls on a route about grants whose references begin with the prefix. */
const callsOf = (path: string, prefix: string) =>
  world.provider.received.filter(
    (call) => call.path === path && String(call.json['playerRef']).startsWith(`player-${prefix}`),
  );

/** How many calls about the many grants came before the last one about the few. */
function callsBetween(path: string, many: string, few: string): number {
  const last = world.provider.received.indexOf(callsOf(path, few).at(-1)!);
  return callsOf(path, many).filter((call) => world.provider.received.indexOf(call) < last).length;
}

test('the queued grants of one operator do not delay those of another', async () => {
  const slow = world.provider.always({ do: 'hold' }, { path: GRANT });
  const many = await record(200, OPERATOR, UNSENT);
  look();
  await until('the first are called', () => callsOf(GRANT, many).length === CALLS_AT_ONCE);
  const few = await record(FEW, OTHER_OPERATOR, UNSENT);
  look();
  slow.withdraw();
  slow.release();
  await until('the few are called', () => callsOf(GRANT, few).length === FEW);
  expect(callsBetween(GRANT, many, few)).toBeLessThan(10 * CALLS_AT_ONCE);
  await until('all are granted', async () => (await countOf(many, `state = 'GRANTED'`)) === 200);
});

test('the due cancels of one operator do not delay those of another', async () => {
  const slow = world.provider.always({ do: 'hold', then: { do: 'answer', status: 200 } }, { path: CANCEL });
  const many = await record(200, OPERATOR, { ...GRANTED, cancel_due: 'true' });
  look();
  await until('the first are called', () => callsOf(CANCEL, many).length === CANCELS_AT_ONCE);
  const few = await record(FEW, OTHER_OPERATOR, { ...GRANTED, cancel_due: 'true' });
  slow.withdraw();
  const quick = world.provider.always({ do: 'answer', status: 200 }, { path: CANCEL });
  slow.release();
  await until('the few are cancelled', async () => (await countOf(few, `state = 'CANCELLED'`)) === FEW);
  expect(callsBetween(CANCEL, many, few)).toBeLessThan(10 * CALLS_AT_ONCE);
  await until('all are cancelled', async () => (await countOf(many, `state = 'CANCELLED'`)) === 200);
  quick.withdraw();
});

test('cancels that the provider does not answer do not stop grants', async () => {
  const hanging = world.provider.always(
    { do: 'hold', then: { do: 'answer', status: 200 } },
    { path: CANCEL },
  );
  const expired = await record(20, OPERATOR, { ...GRANTED, expires_at: 'clock_timestamp()' });
  look();
  await until('cancels hang', () => callsOf(CANCEL, expired).length === CANCELS_AT_ONCE);
  const { batchId } = (await world.admin('POST', BATCHES, batchOrder(20))).json;
  const granted = async () =>
    (await world.admin('GET', `${BATCHES}/${String(batchId)}?items=false`)).json['granted'];
  await until('the batch is granted', async () => (await granted()) === 20);
  expect(callsOf(CANCEL, expired)).toHaveLength(CANCELS_AT_ONCE);
  hanging.withdraw();
  const quick = world.provider.always({ do: 'answer', status: 200 }, { path: CANCEL });
  hanging.release();
  await until('all are cancelled', async () => (await countOf(expired, `state = 'CANCELLED'`)) === 20);
  quick.withdraw();
});

test('any number of grants begin to expire, or fail unsent, in one pass', async () => {
  const held = world.provider.always({ do: 'hold' }, {});
  const busy = await record(CALLS_AT_ONCE, OPERATOR, UNSENT);
  look();
  await until('all workers are busy', () => callsOf(GRANT, busy).length === CALLS_AT_ONCE);
  await world.app.get(QueueRunner)['loop'].run();
  const expired = { expires_at: `clock_timestamp() - interval '1 second'` };
  const granted = await record(MANY, OPERATOR, { ...GRANTED, ...expired });
  const unsent = await record(MANY, OPERATOR, { ...UNSENT, ...expired });
  const tomorrow = { expires_at: `clock_timestamp() + interval '1 day'` };
  const later = await record(FEW, OPERATOR, { ...UNSENT, ...tomorrow });
  await world.app.get(QueueRunner)['loop'].run();
  expect(await countOf(granted, `expiry = 'BEGUN'`)).toBe(MANY);
  expect(
    await countOf(
      unsent,
      `state = 'FAILED' AND attempt = 0 AND NOT outcome_unknown
         AND failure_error = 'not sent: its expiresAt has passed'`,
    ),
  ).toBe(MANY);
  expect(await countOf(later, `state = 'PENDING'`)).toBe(FEW);
  await world.sql.run(`DELETE FROM free_spin_grants WHERE request_ref LIKE '${granted}-%'`);
  held.withdraw();
  held.release();
  await until('the busy ones end', async () => (await countOf(busy, `state = 'PENDING'`)) === 0);
  expect(await tool.state(`${busy}-1`)).toBe('GRANTED');
});

interface StatusBatch {
  readonly path: string;
  readonly playerRef: string;
}

/** A batch with one GRANTED grant. */
async function batchOfOne(fields: object = {}): Promise<StatusBatch> {
  const order = batchOrder(1, { ...fields });
  const { batchId } = (await world.admin('POST', BATCHES, order)).json;
  const path = `${BATCHES}/${String(batchId)}`;
  await until('it is granted', async () => (await world.admin('GET', path)).json['granted'] === 1);
  return { path, playerRef: order.playerRefs[0]! };
}

const batchesOfOne = (count: number, fields?: object) =>
  Promise.all(Array.from({ length: count }, () => batchOfOne(fields)));

const requestStatus = ({ path }: StatusBatch) => world.admin('POST', `${path}/status`);

/** The place of the status call about a batch among all status calls; -1 if there was none. */
const placeOf = ({ playerRef }: StatusBatch) =>
  world.provider.calls(STATUS).findIndex(({ json }) => json['playerRef'] === playerRef);

test('batches at a provider that does not answer do not delay the status of those at another', async () => {
  const slow = await batchesOfOne(6);
  const quick = await batchOfOne({ gameId: FOREIGN_GAME });
  const held = world.provider.always(
    { do: 'hold' },
    { path: STATUS, where: ({ json }) => json['gameId'] === GAME },
  );
  for (const batch of slow) await requestStatus(batch);
  await held.arrived;
  await requestStatus(quick);
  await until('the other provider is asked', () => placeOf(quick) >= 0);
  held.withdraw();
  held.release();
  await until('all are asked', () => slow.every((batch) => placeOf(batch) >= 0));
});

test('the batches of one operator do not delay the status of those of another', async () => {
  const first = await batchOfOne();
  const many = await batchesOfOne(6);
  const few = await batchOfOne({ operatorId: OTHER_OPERATOR });
  const held = world.provider.always({ do: 'hold' }, { path: STATUS });
  await requestStatus(first);
  await held.arrived;
  for (const batch of [...many, few]) await requestStatus(batch);
  held.withdraw();
  held.release();
  await until('all are asked', () => [...many, few].every((batch) => placeOf(batch) >= 0));
  expect(placeOf(few)).toBeLessThan(Math.min(...many.map(placeOf)));
});

test('the next grant, cancel and expiry are found without reading the queue', async () => {
  await world.app.get(QueueRunner)['loop'].stop(0);
  await record(MANY, OPERATOR, { ...UNSENT, expires_at: `clock_timestamp() + interval '1 day'` });
  await record(MANY, OPERATOR, { ...GRANTED, cancel_due: 'true' });
  await world.sql.run('VACUUM (ANALYZE) free_spin_grants');
  const planner = await Planner.open(world.databaseUrl);
  const ofProvider = { providerId: PROVIDER, after: OPERATOR, leaseSeconds: 1 };
  for (const [statement, values] of [
    [CLAIM_UNSENT, ofProvider],
    [CLAIM_DUE_CANCEL, ofProvider],
    [FAIL_EXPIRED, { error: 'x', limit: 10 }],
  ] as const) {
    for (const nodes of await planner.plansOf(statement, values)) {
      expect(rowsTouched(nodesOn(nodes, new Set(['free_spin_grants'])))).toBeLessThan(20);
    }
  }
  await planner.close();
});
