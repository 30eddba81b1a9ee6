import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ReversedTarget } from '../../src/wallet/rules/decision.js';
import type { RoundFacts } from '../../src/wallet/rules/facts.js';
import type { NewTransaction } from '../../src/wallet/transaction.js';
import { UndecidedStore } from '../../src/wallet/resolving/undecided.store.js';
import { TransactionStore } from '../../src/wallet/transaction.store.js';
import { type LaunchedSession, OPERATOR, PROVIDER, useWorld, type World } from '../world/world.js';
import { randomUUID } from 'node:crypto';

/**
 * A write carries its condition: it has no effect if another request changed the row after it was read. Over HTTP
 * these moments are too short to hit, so the store is called directly.
 */
let store: TransactionStore;
let session: LaunchedSession;
let bet: ReturnType<World['transaction']>;

const world = useWorld();
beforeAll(async () => {
  store = world.app.get(TransactionStore);
});
beforeEach(async () => {
  session = await world.launch();
  bet = world.transaction(session, 'BET');
});

const round = (version: number) => ({ version }) as RoundFacts;

function settling(kind: 'WIN' | 'ROLLBACK'): NewTransaction {
  const request = world.transaction(session, kind, {
    roundId: bet.roundId,
    ...(kind === 'ROLLBACK' && { originalTransactionId: bet.transactionId }),
  }) as unknown as NewTransaction['request'];
  const { sessionId } = session;
  return {
    providerId: PROVIDER,
    operatorId: OPERATOR,
    sessionId,
    mode: 'REAL',
    request,
    amountMinor: 100,
    platformTransactionId: randomUUID(),
  };
}

/** What the decision about a ROLLBACK of the BET has read: the BET's first attempt. */
const APPROVED = { found: 'bet', attempt: 1, approved: true } as const;
const UNDECIDED = { found: 'bet', attempt: 1, approved: false } as const;

const claimRollback = (target: ReversedTarget, version = 0) =>
  store.claimRollback(settling('ROLLBACK'), round(version), target, randomUUID());

async function lose(body = bet): Promise<void> {
  world.wallet.next({ do: 'answer', status: 500 }, { transactionId: body.transactionId });
  expect((await world.submit(body)).status).toBe(500);
}

const count = async () => {
  const [row] = await world.sql.run<{ count: number }>(
    'SELECT count(*)::int AS count FROM transactions WHERE player_ref = $1',
    [session.playerRef],
  );
  return row?.count;
};

describe('a BET is not retried', () => {
  test('once a ROLLBACK of it is claimed', async () => {
    await lose();
    expect(await claimRollback(UNDECIDED)).toBeDefined();
    expect(await store.retry(PROVIDER, bet.transactionId, 1)).toBeUndefined();
  });

  test('twice by attempts that read the same state', async () => {
    await lose();
    const claims = await Promise.all([1, 2, 3].map(() => store.retry(PROVIDER, bet.transactionId, 1)));
    expect(claims.filter(Boolean)).toHaveLength(1);
  });

  test('once another attempt was made since it was read', async () => {
    await lose();
    await store.retry(PROVIDER, bet.transactionId, 1);
    await world.endLease(bet.transactionId);
    expect(await store.retry(PROVIDER, bet.transactionId, 1)).toBeUndefined();
  });

  test('while an attempt is in progress', async () => {
    const held = world.wallet.next({ do: 'hold' }, { transactionId: bet.transactionId });
    const answer = world.submit(bet);
    await held.arrived;
    expect(await store.retry(PROVIDER, bet.transactionId, 1)).toBeUndefined();
    held.release();
    await answer;
  });

  test('once it is decided', async () => {
    await world.submit(bet);
    expect(await store.retry(PROVIDER, bet.transactionId, 1)).toBeUndefined();
  });
});

test('a BET is not parked once a ROLLBACK of it is claimed', async () => {
  await lose();
  const undecided = world.app.get(UndecidedStore);
  const key = { providerId: PROVIDER, transactionId: bet.transactionId };
  await claimRollback(UNDECIDED);
  expect(await undecided.park(key)).toBe(false);
});

test('an outcome is not replaced by a later one', async () => {
  await lose();
  const claim = (await store.retry(PROVIDER, bet.transactionId, 1))!;
  const settle = (state: 'APPROVED' | 'DECLINED') => {
    const declineReason = state === 'DECLINED' ? ('OTHER' as const) : null;
    const record = { attempt: 2, startedAt: '2026-01-01T00:00:00Z', durationMs: 0, outcome: state };
    return store.settle(claim, { state, responseBody: '{}', declineReason, record });
  };
  expect(await settle('DECLINED')).toBeDefined();
  expect(await settle('APPROVED')).toBeUndefined();
});

describe('a ROLLBACK is not claimed, and leaves no trace,', () => {
  test('once its target was retried', async () => {
    await lose();
    await store.retry(PROVIDER, bet.transactionId, 1);
    await world.endLease(bet.transactionId);
    expect(await claimRollback(UNDECIDED)).toBeUndefined();
    expect(await count()).toBe(1);
  });

  test('once its target was DECLINED by the holder of the attempt that it read', async () => {
    world.wallet.next({ do: 'decline', reason: 'OTHER' }, { transactionId: bet.transactionId });
    await world.submit(bet);
    expect(await claimRollback(UNDECIDED)).toBeUndefined();
    expect(await count()).toBe(1);
  });

  test('once its target was APPROVED by the holder of the attempt that it read', async () => {
    await world.submit(bet);
    expect(await claimRollback(UNDECIDED)).toBeUndefined();
    expect(await count()).toBe(1);
  });

  test('while its target is being booked', async () => {
    const held = world.wallet.next({ do: 'hold' }, { transactionId: bet.transactionId });
    const answer = world.submit(bet);
    await held.arrived;
    expect(await claimRollback(UNDECIDED)).toBeUndefined();
    held.release();
    await answer;
  });

  test('once another ROLLBACK of its target is claimed', async () => {
    await world.submit(bet);
    expect(await claimRollback(APPROVED)).toBeDefined();
    expect(await claimRollback(APPROVED, 1)).toBeUndefined();
    expect(await count()).toBe(2);
  });

  test('once another settling claim changed its round', async () => {
    await world.submit(bet);
    expect(await store.claimWin(settling('WIN'), round(0))).toBeDefined();
    expect(await claimRollback(APPROVED)).toBeUndefined();
    expect(await store.claimWin(settling('WIN'), round(0))).toBeUndefined();
    expect(await store.claimWin(settling('WIN'), round(1))).toBeDefined();
  });

  test('once its unknown target was claimed', async () => {
    await world.submit(bet);
    expect(await claimRollback({ found: 'nothing' })).toBeUndefined();
    expect(await count()).toBe(1);
  });

  test('once another ROLLBACK holds the tombstone of its target', async () => {
    expect(await claimRollback({ found: 'nothing' })).toBeDefined();
    expect(await claimRollback({ found: 'tombstone' }, 1)).toBeUndefined();
    expect(await count()).toBe(2);
  });
});

test('a ROLLBACK whose id is taken leaves no mark on its target', async () => {
  await world.submit(bet);
  const other = world.transaction(session, 'BET');
  await world.submit(other);
  const rollback = settling('ROLLBACK');
  const taken = { ...rollback, request: { ...rollback.request, transactionId: other.transactionId } };
  expect(await store.claimRollback(taken, round(0), APPROVED, randomUUID())).toBeUndefined();
  const rows = await world.sql.run('SELECT rollback_id FROM transactions WHERE transaction_id = $1', [
    bet.transactionId,
  ]);
  expect(rows).toEqual([{ rollback_id: null }]);
});
