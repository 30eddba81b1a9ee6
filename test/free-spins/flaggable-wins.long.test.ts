import { expect, test } from 'vitest';
import { MARK_STORED_WINS } from '../../src/database/migrations/0022-flaggable-wins.js';
import { STILL_FLAGGED } from '../../src/free-spins/winnings/winnings.store.js';
import { tick } from '../desk/desk.js';
import { chosen, SEED } from '../races/misbehaviour.js';
import type { Behaviour } from '../world/counterpart.js';
import { type LaunchedSession, useWorld } from '../world/world.js';
import { Tool } from './tool.js';

const ROUNDS = 100;
const ROUNDS_AT_ONCE = 10;
/** Each round has a few steps, and each step a few requests at once. */
const STEPS = 4;
const AT_ONCE = 3;
const BETS = ['bet-0', 'bet-1'] as const;
const FLAGGED = '/v1/admin/free-spins-winnings/flagged';
/** Size of a page. Most lists of this test have more than one page. */
const LIMIT = 20;

const world = useWorld();
const tool = new Tool(world);

test('the list has exactly the WINs to which a flag applies, in whatever order the rounds were played', async () => {
  try {
    world.wallet.otherwise(misbehaviour);
    await inLanes(ROUNDS_AT_ONCE, ROUNDS, playRound);
    await expectExact();

    world.wallet.otherwise(() => undefined);
    await letTheResolverWork();
    await expectExact();
    const flags = new Set((await listed()).map(({ flag }) => flag));
    expect([...flags].sort()).toEqual(['CANCELLED', 'NO_STANDING_BET', 'UNKNOWN_BATCH']);

    // The migration marks the WINs that are stored when it runs.
    const before = await listed();
    await world.sql.run('DELETE FROM flaggable_wins');
    expect(await listed()).toEqual([]);
    await world.sql.run(MARK_STORED_WINS);
    expect(await listed()).toEqual(before);
  } catch (error) {
    throw new Error(`with CHAOS_SEED=${SEED}: ${(error as Error).message}`, { cause: error });
  }
}, 180_000);

test('a WIN that depends on a BET, or was won with a live grant, is not examined', async () => {
  world.wallet.otherwise(() => undefined);
  const { externalRef, playerRef } = await tool.granted();
  const session = await world.launch({ playerRef });
  const played = world.transaction(session, 'BET');
  const wins = [
    world.transaction(session, 'WIN', { roundId: played.roundId }),
    world.transaction(session, 'WIN', { roundId: played.roundId, freeSpinsRef: externalRef }),
    world.transaction(session, 'WIN', { freeSpinsRef: externalRef }),
    world.transaction(session, 'WIN'),
  ];
  const undone = world.transaction(session, 'BET', { roundId: played.roundId });
  const undo = { originalTransactionId: undone.transactionId, roundId: played.roundId };
  for (const body of [played, undone, world.transaction(session, 'ROLLBACK', undo), ...wins]) {
    expect((await world.submit(body)).json['status']).toBe('APPROVED');
  }
  const ids = wins.map(({ transactionId }) => transactionId);
  const marked = await world.sql.run('SELECT FROM flaggable_wins WHERE transaction_id = ANY ($1)', [ids]);
  expect(marked).toEqual([]);
});

/** What the wallet does, by the transaction's id. */
function misbehaviour({ json }: { json: Record<string, unknown> }): Behaviour | undefined {
  const id = String(json['transactionId']);
  const failure = { do: 'answer', status: 500 } as const;
  switch (chosen(6, 'wallet', id)) {
    case 0:
      return { do: 'decline', reason: 'LIMIT_REACHED' };
    case 1:
      return failure;
    case 2:
      return { do: 'book-then', then: failure };
    default:
      return undefined;
  }
}

async function inLanes(lanes: number, count: number, work: (number: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** A round of a player with a grant: BETs, WINs, ROLLBACKs of BETs that may never arrive, and the grant's cancel. */
async function playRound(number: number): Promise<void> {
  const { requestRef, externalRef, playerRef } = await tool.granted();
  const session = await world.launch({ playerRef });
  for (let step = 0; step < STEPS; step += 1) {
    const requests = Array.from({ length: AT_ONCE }, (_, nth) => {
      const name = `${number}-${step}-${nth}`;
      return chosen(12, 'cancel', name) === 0
        ? tool.act(requestRef, 'cancel')
        : world.submit(transactionOf(session, number, name, String(externalRef)));
    });
    const statuses = (await Promise.all(requests)).map(({ status }) => status);
    // 409: another request of the round is under way. 500: the wallet gave no answer.
    for (const status of statuses) expect([200, 409, 500]).toContain(status);
  }
}

function transactionOf(session: LaunchedSession, number: number, name: string, externalRef: string) {
  const roundId = `round-${number}`;
  const body = (kind: string, transactionId: string, fields = {}) =>
    world.transaction(session, kind, { transactionId, roundId, ...fields });
  const bet = `${BETS[chosen(BETS.length, 'which', name)]}-${number}`;
  switch (chosen(4, 'kind', name)) {
    case 0:
      return body('BET', bet);
    case 1:
      return body('ROLLBACK', `rollback-${name}`, { originalTransactionId: bet });
    case 2:
      return body('WIN', `win-${name}`);
    default: {
      const refs = [externalRef, externalRef, 'no-such-batch'];
      return body('WIN', `win-${name}`, { freeSpinsRef: refs[chosen(refs.length, 'batch', name)] });
    }
  }
}

/** Lets two minutes pass before each pass of the resolver, until everything is decided. */
async function letTheResolverWork(): Promise<void> {
  const undecided = `state IN ('PENDING', 'TIMED_OUT')`;
  for (let pass = 0; pass < 100; pass += 1) {
    const rows = await world.sql.run(
      `UPDATE transactions SET updated_at = updated_at - interval '2 minutes' WHERE ${undecided} RETURNING transaction_id`,
    );
    if (rows.length === 0) return;
    await tick(world);
  }
  throw new Error('the resolver does not come to an end');
}

interface Listed {
  readonly transactionId: string;
  readonly flag: string;
}

/** The whole list, page by page. */
async function listed(): Promise<Listed[]> {
  const found: Listed[] = [];
  for (let cursor = ''; ;) {
    const { json } = await world.admin('GET', `${FLAGGED}?limit=${LIMIT}${cursor}`);
    found.push(...(json['items'] as Listed[]).map(({ transactionId, flag }) => ({ transactionId, flag })));
    if (json['nextCursor'] === undefined) return found;
    cursor = `&cursor=${String(json['nextCursor'])}`;
  }
}

/** Compares the list with the flags of all WINs. */
async function expectExact(): Promise<void> {
  const wins = await world.sql.run<{ provider: string; id: string }>(
    `SELECT provider_id AS provider, transaction_id AS id FROM transactions WHERE kind = 'WIN'
      ORDER BY created_at DESC, platform_transaction_id DESC`,
  );
  const keys = [wins.map(({ provider }) => provider), wins.map(({ id }) => id)];
  const flagged = await world.sql.run<{ transactionId: string }>(STILL_FLAGGED.text, keys);
  const ids = new Set(flagged.map(({ transactionId }) => transactionId));
  expect((await listed()).map(({ transactionId }) => transactionId)).toEqual(
    wins.map(({ id }) => id).filter((id) => ids.has(id)),
  );
}
