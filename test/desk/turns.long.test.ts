import pg from 'pg';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Turns } from '../../src/database/turns.js';
import { grantOrder } from '../world/grant-order.js';
import { PATIENCE } from '../world/patience.js';
import { CSV, OPERATOR, OTHER_OPERATOR, type Reply, useWorld } from '../world/world.js';

const READS = 60;
const UNDER_WAY = 4;

const world = useWorld();
let locker: pg.Client;

beforeEach(async () => {
  locker = new pg.Client({ connectionString: world.databaseUrl });
  await locker.connect();
});
afterEach(() => locker.end());

const read = (operator: string, list: string) => world.signedGet(operator, `/v1/operator/${list}`);

interface Waiting {
  readonly callers: ReadonlyMap<string, { readonly waiting: ReadonlySet<unknown> }>;
}

/** The number of reads or changes that wait for a turn. */
function waiting(of: 'reads' | 'changes'): number {
  const turns = world.app.get<Record<typeof of, Waiting>>(Turns);
  return [...turns[of].callers.values()].reduce((sum, caller) => sum + caller.waiting.size, 0);
}

/** How many of the calls have been answered. */
function countOf(calls: readonly Promise<Reply>[]): () => number {
  let count = 0;
  for (const reply of calls) void reply.then(() => (count += 1));
  return () => count;
}

const codeOf = ({ status, headers }: Reply) => headers.get('x-error-code') ?? String(status);

test('an operator and an administrator whose lists hang leave the instance to the others', async () => {
  const auditor = await world.administrator('auditor');
  const session = await world.launch({}, OTHER_OPERATOR);
  await locker.query('BEGIN; LOCK TABLE free_spin_batches IN ACCESS EXCLUSIVE MODE');
  const lists = Array.from({ length: READS }, () => read(OPERATOR, 'free-spins/batches'));
  const exports = Array.from({ length: READS }, () =>
    auditor.call('GET', '/v1/admin/free-spins/batches', undefined, CSV),
  );
  const answered = countOf([...lists, ...exports]);
  await vi.waitFor(() => expect(waiting('reads')).toBeGreaterThan(0), PATIENCE);

  // The answers come while the lists hang: the lock is released later.
  expect((await world.request('/health/ready')).status).toBe(200);
  expect((await world.submit(world.transaction(session, 'BET'))).json['status']).toBe('APPROVED');
  await world.launch({}, OTHER_OPERATOR);
  expect((await read(OTHER_OPERATOR, 'sessions')).status).toBe(200);
  expect((await world.admin('GET', '/v1/admin/transactions')).status).toBe(200);

  await vi.waitFor(() => expect(answered()).toBe(2 * (READS - UNDER_WAY)), PATIENCE);
  await locker.query('ROLLBACK');
  for (const answers of [await Promise.all(lists), await Promise.all(exports)]) {
    const refused = answers.filter((answer) => codeOf(answer) === 'OVERLOADED');
    expect(refused).toHaveLength(READS - UNDER_WAY);
    for (const { status, headers } of refused) {
      expect([status, headers.get('retry-after')]).toEqual([500, '1']);
      expect(headers.get('x-next-action')).toBe('retry-same-request');
    }
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(UNDER_WAY);
  }
  const metric = `croupier_overload_refusals_total{reason="reads-waited"} ${2 * (READS - UNDER_WAY)}`;
  expect(await world.metrics()).toContain(metric);
});

/** The lock that serialises appends to the audit log. */
const APPENDS = 7300003;

test('an administrator whose reads cannot be recorded leaves the instance to the others', async () => {
  await locker.query('BEGIN');
  await locker.query('SELECT pg_advisory_xact_lock($1)', [APPENDS]);
  const reads = Array.from({ length: READS }, () => world.admin('GET', '/v1/admin/sessions'));
  const answered = countOf(reads);
  await vi.waitFor(() => expect(waiting('reads')).toBeGreaterThan(0), PATIENCE);
  expect((await world.request('/health/ready')).status).toBe(200);
  await world.launch();
  await vi.waitFor(() => expect(answered()).toBe(READS - UNDER_WAY), PATIENCE);
  await locker.query('ROLLBACK');
  const codes = (await Promise.all(reads)).map(codeOf);
  expect(codes.filter((code) => code === 'OVERLOADED')).toHaveLength(READS - UNDER_WAY);
  expect(codes.filter((code) => code === '200')).toHaveLength(UNDER_WAY);
  // What was not read is not recorded.
  const path = '/v1/admin/audit?action=sessions.list';
  expect((await world.admin('GET', path)).json['items']).toHaveLength(UNDER_WAY);
});

/** First of the two keys of the lock on the limits of an operator in a currency. */
const LIMIT_LOCKS = 7_300_005;
const GRANTS = 25;
const GRANTS_UNDER_WAY = 2;

test('an operator whose grants wait for its limits leaves the instance to the others', async () => {
  await locker.query('BEGIN');
  const lock = 'SELECT pg_advisory_xact_lock($1, hashtext($2))';
  await locker.query(lock, [LIMIT_LOCKS, `${OPERATOR}/EUR`]);
  const grant = (operator: string) => {
    const { operatorId: _, ...order } = grantOrder();
    return world.signed(operator, '/v1/operator/free-spins', order);
  };
  const grants = Array.from({ length: GRANTS }, () => grant(OPERATOR));
  await vi.waitFor(() => expect(waiting('changes')).toBe(GRANTS - GRANTS_UNDER_WAY), PATIENCE);
  await world.launch({}, OTHER_OPERATOR);
  expect((await grant(OTHER_OPERATOR)).json['state']).toBe('GRANTED');
  await locker.query('ROLLBACK');
  expect((await Promise.all(grants)).map(codeOf)).toEqual(Array(GRANTS).fill('201'));
});
