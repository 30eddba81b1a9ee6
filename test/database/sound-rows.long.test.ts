import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DataSource } from 'typeorm';
import { openDataSource } from '../../src/database/data-source.js';
import { createMigratedDatabase } from '../world/database.js';

/**
 * The table refuses rows that no code of ours writes: those that are not a valid BET, WIN, ROLLBACK, adjustment or
 * tombstone.
 */
let drop: () => Promise<void>;
let dataSource: DataSource;

beforeAll(async () => {
  const database = await createMigratedDatabase();
  drop = database.drop;
  dataSource = await openDataSource(database.url);
});
afterAll(async () => {
  await dataSource.destroy();
  await drop();
});

type Row = Readonly<Record<string, unknown>>;

const PENDING: Row = { state: 'PENDING', lease_until: new Date() };
const APPROVED: Row = { state: 'APPROVED', response_body: '{}' };
const ROLLED_BACK: Row = { state: 'ROLLED_BACK', rollback_id: 'rollback' };

const REPORTED: Row = { reported_status: 'APPROVED', reported_at: new Date() };

const BET: Row = {
  kind: 'BET',
  provider_id: 'provider',
  operator_id: 'operator',
  session_id: randomUUID(),
  mode: 'REAL',
  player_ref: 'player',
  game_id: 'game',
  currency: 'EUR',
  amount_minor: 100,
  round_id: 'round',
  attempt: 1,
  ...APPROVED,
};
const WIN: Row = { ...BET, kind: 'WIN' };
const ROLLBACK: Row = { ...BET, kind: 'ROLLBACK', original_transaction_id: 'bet' };
const TOMBSTONE: Row = { ...BET, kind: null, response_body: null, ...ROLLED_BACK, attempt: 0 };
const ADJUSTMENT: Row = {
  kind: 'ADJUSTMENT',
  provider_id: 'platform',
  operator_id: 'operator',
  mode: 'REAL',
  player_ref: 'player',
  currency: 'EUR',
  amount_minor: -100,
  attempt: 1,
  reason: 'because',
  ...APPROVED,
};

async function store(row: Row): Promise<void> {
  const whole = { transaction_id: randomUUID(), platform_transaction_id: randomUUID(), ...row };
  const columns = Object.keys(whole);
  await dataSource.query(
    `INSERT INTO transactions (${columns.join(', ')}) VALUES (${columns.map((_, n) => `$${n + 1}`).join(', ')})`,
    Object.values(whole),
  );
}

test.each<[string, Row]>([
  ['BET', BET],
  ['BET of 0', { ...BET, amount_minor: 0 }],
  ['BET of the largest amount', { ...BET, amount_minor: Number.MAX_SAFE_INTEGER }],
  ['BET under way', { ...BET, response_body: null, ...PENDING }],
  ['BET without an answer', { ...BET, response_body: null, state: 'TIMED_OUT' }],
  ['BET that was rolled back', { ...BET, ...ROLLED_BACK }],
  ['BET that the platform declined', { ...BET, state: 'DECLINED', verdict: 'DECLINED' }],
  ['BET with a reported answer', { ...BET, ...REPORTED }],
  ['WIN', WIN],
  ['WIN in DEMO mode', { ...WIN, mode: 'DEMO' }],
  ['ROLLBACK', ROLLBACK],
  ['tombstone', TOMBSTONE],
  ['adjustment', ADJUSTMENT],
  ['adjustment in the player’s favour', { ...ADJUSTMENT, amount_minor: 100 }],
])('%s is accepted', async (_, row) => {
  await store(row);
});

describe('a row is refused:', () => {
  const provided: [string, Row][] = [
    ['BET', BET],
    ['WIN', WIN],
    ['ROLLBACK', ROLLBACK],
    ['tombstone', TOMBSTONE],
  ];
  const any: [string, Row][] = [...provided, ['adjustment', ADJUSTMENT]];
  const each = (rows: [string, Row][], what: string, fields: Row): [string, Row][] =>
    rows.map(([name, row]) => [`${name} ${what}`, { ...row, ...fields }]);

  test.each<[string, Row]>([
    ...each(any, 'in an unknown state', { state: 'BOOKED' }),
    ...each(any, 'PENDING without a lease', { state: 'PENDING', lease_until: null }),
    ...each(any, 'with a lease and not PENDING', { lease_until: new Date() }),
    ...each(any, 'in an unknown mode', { mode: 'TRIAL' }),
    ...each(any, 'without a valid currency', { currency: 'euro' }),
    ...each(any, 'with an amount beyond 2^53-1', { amount_minor: '9007199254740992' }),
    ...each(any, 'with a negative attempt', { attempt: -1 }),
    ...each(any, 'with an unknown verdict', { verdict: 'PENDING' }),
    ...each(any, 'with an unknown reported answer', { ...REPORTED, reported_status: 'PENDING' }),
    ...each(any, 'with a reported answer without its time', { ...REPORTED, reported_at: null }),
    ...each(any, 'with the time of no reported answer', { ...REPORTED, reported_status: null }),
    ...each(any.slice(0, 3), 'APPROVED without an answer', { response_body: null }),
    ...each(any.slice(0, 3), 'DECLINED without an answer', { state: 'DECLINED', response_body: null }),
    ...each(provided, 'with a negative amount', { amount_minor: -1 }),
    ...each(provided, 'with a reason', { reason: 'because' }),
    ...each(provided, 'of the platform', { provider_id: 'platform' }),
    ['an unknown kind', { ...BET, kind: 'JACKPOT' }],
    ['BET that was rolled back without a ROLLBACK', { ...BET, ...ROLLED_BACK, rollback_id: null }],
    ['WIN that was rolled back', { ...WIN, ...ROLLED_BACK }],
    ['ROLLBACK that was rolled back', { ...ROLLBACK, ...ROLLED_BACK }],
    ['ROLLBACK without a target', { ...ROLLBACK, original_transaction_id: null }],
    ['tombstone that was booked', { ...TOMBSTONE, ...APPROVED }],
    ['adjustment of a provider', { ...ADJUSTMENT, provider_id: 'provider' }],
    ['adjustment without a reason', { ...ADJUSTMENT, reason: null }],
    ['adjustment in DEMO mode', { ...ADJUSTMENT, mode: 'DEMO' }],
    ['adjustment of 0', { ...ADJUSTMENT, amount_minor: 0 }],
    ['adjustment in a session', { ...ADJUSTMENT, session_id: randomUUID() }],
    ['adjustment in a game', { ...ADJUSTMENT, game_id: 'game' }],
    ['adjustment in a round', { ...ADJUSTMENT, round_id: 'round' }],
    ['adjustment that was rolled back', { ...ADJUSTMENT, ...ROLLED_BACK }],
  ])('%s', async (_, row) => {
    await expect(store(row)).rejects.toMatchObject({ code: '23514', constraint: 'transactions_sound' });
  });

  test('a valid row that is changed to an invalid one', async () => {
    await store({ ...BET, transaction_id: 'changed' });
    const change = dataSource.query(
      `UPDATE transactions SET state = 'PENDING' WHERE transaction_id = 'changed'`,
    );
    await expect(change).rejects.toMatchObject({ code: '23514', constraint: 'transactions_sound' });
  });
});
