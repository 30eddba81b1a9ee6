import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type TransactionBody, Transactions } from '../world/transactions.js';
import {
  GAME,
  type LaunchedSession,
  OPERATOR,
  OTHER_GAME,
  OTHER_OPERATOR,
  OTHER_PROVIDER,
  PROVIDER,
  useWorld,
  type World,
} from '../world/world.js';
import { documentedRows, executedTable, expectDocumented } from './document.js';

/** Time after a session's end in which its rounds may still be settled, in seconds. */
const LATE_SECONDS = 600;

let session: LaunchedSession;

const world = useWorld();
const transactions = new Transactions(world);
beforeEach(async () => (session = await world.launch({ ttlSeconds: 60 })));
afterEach(() => transactions.releaseAbandoned());

const bet = (fields = {}) => world.transaction(session, 'BET', fields);
const win = (fields = {}) => world.transaction(session, 'WIN', fields);
const rollbackOf = ({ transactionId, roundId }: TransactionBody, fields = {}) =>
  world.transaction(session, 'ROLLBACK', { originalTransactionId: transactionId, roundId, ...fields });

/** Submits a transaction that the platform decides, and that stays undecided, because its balance cannot be read. */
async function balanceUnread(body: TransactionBody): Promise<void> {
  const { playerRef } = session;
  world.wallet.next({ do: 'answer', status: 503 }, { path: '/balance', playerRef });
  expect((await world.submit(body)).status).toBe(500);
}

/**
 * Submits the request that a scenario of section 3 prepared; the row has the answer, and whether the operator is
 * called.
 */
async function expectRow(row: string[], body: TransactionBody): Promise<void> {
  const callsBefore = world.wallet.calls(body.transactionId).length;
  expectDocumented(await world.submit(body), row[1] ?? '');
  const called = world.wallet.calls(body.transactionId).length > callsBefore;
  expect(called ? 'yes' : 'no').toBe(row[2]);
}

describe('section 3, the table of attempts', () => {
  const rolledBack = async () => {
    const body = await transactions.approved(bet());
    await transactions.approved(rollbackOf(body));
    return body;
  };
  /** Leaves a ROLLBACK undecided. The ROLLBACK of a DECLINED BET only reads the balance, so that read fails instead. */
  const rollbackUndecided = async (body: TransactionBody) => {
    const isDeclined = (await world.stateOf(body.transactionId)) === 'DECLINED';
    await (isDeclined ? balanceUnread(rollbackOf(body)) : transactions.timedOut(rollbackOf(body)));
  };

  test.each(
    documentedRows<() => Promise<TransactionBody | TransactionBody[]>>('attempts', {
      'a transaction with another fingerprint': async () => {
        const body = await transactions.approved(bet());
        return { ...body, amountMinor: 101 };
      },
      'a tombstone: its ROLLBACK arrived first': async () => {
        const body = bet();
        await transactions.approved(rollbackOf(body));
        return body;
      },
      'the transaction, `ROLLED_BACK`': rolledBack,
      'the transaction, in any other state, with an undecided ROLLBACK of it': async () => {
        const inEachState = [
          await transactions.approved(bet()),
          await transactions.timedOut(bet()),
          await transactions.declined(bet()),
          await transactions.abandoned(bet()),
        ];
        for (const body of inEachState) await rollbackUndecided(body);
        return inEachState;
      },
      'the transaction, `APPROVED`': () => transactions.approved(bet()),
      'the transaction, `DECLINED`': () => transactions.declined(bet()),
      'the transaction, `PENDING`, its lease not expired': () => stillPending(bet()),
      'the transaction, `PENDING`, its lease expired: its instance died': () => transactions.abandoned(bet()),
      'the transaction, `TIMED_OUT`': () => transactions.timedOut(bet()),
      nothing: () => Promise.resolve(bet()),
    }),
  )('$row.0: $row.1', async ({ row, scenario }) => {
    for (const body of [await scenario()].flat()) await expectRow(row, body);
  });
});

describe('section 3, the table of WINs', () => {
  const winOf = ({ roundId }: TransactionBody, fields = {}) => win({ roundId, ...fields });
  const rolledBack = async () => {
    const body = await transactions.approved(bet());
    await transactions.approved(rollbackOf(body));
    return body;
  };

  test.each(
    documentedRows<() => Promise<TransactionBody>>('wins', {
      none: () => Promise.resolve(win()),
      'only declined ones': async () => winOf(await transactions.declined(bet())),
      'one is `APPROVED`': async () => winOf(await transactions.approved(bet())),
      'one is `APPROVED`, another is undecided': async () => {
        const standing = await transactions.approved(bet());
        return winOf(await transactions.timedOut(bet({ roundId: standing.roundId })));
      },
      'one is `APPROVED`, another has an undecided ROLLBACK': async () => {
        const standing = await transactions.approved(bet());
        const another = await transactions.approved(bet({ roundId: standing.roundId }));
        await transactions.timedOut(rollbackOf(another));
        return winOf(standing);
      },
      'one is `PENDING`': async () => winOf(await stillPending(bet())),
      'one is `TIMED_OUT`': async () => winOf(await transactions.timedOut(bet())),
      'one is `APPROVED`, with an undecided ROLLBACK of it that the operator has to book': async () => {
        const body = await transactions.approved(bet());
        await transactions.timedOut(rollbackOf(body));
        return winOf(body);
      },
      'one is `APPROVED`, with an undecided ROLLBACK of it that the platform declines': async () => {
        const body = await transactions.approved(bet());
        await transactions.approved(winOf(body));
        await balanceUnread(rollbackOf(body));
        return winOf(body);
      },
      'all are `ROLLED_BACK`': async () => winOf(await rolledBack()),
      'all are `ROLLED_BACK`, and the WIN carries a `freeSpinsRef`': async () =>
        winOf(await rolledBack(), { freeSpinsRef: 'batch-1' }),
      'all are `ROLLED_BACK`, and the WIN is a `JACKPOT`': async () =>
        winOf(await rolledBack(), { winKind: 'JACKPOT' }),
      'one is `TIMED_OUT`, and the WIN is a `TOURNAMENT`': async () =>
        winOf(await transactions.timedOut(bet()), { winKind: 'TOURNAMENT' }),
    }),
  )('$row.0: $row.1', async ({ row, scenario }) => expectRow(row, await scenario()));
});

describe('section 3, the table of ROLLBACKs', () => {
  /** One or several ROLLBACKs to which the row applies. */
  type Rollbacks = () => Promise<TransactionBody | TransactionBody[]>;
  const settledBy = async (settle: (body: TransactionBody) => Promise<TransactionBody>, fields = {}) => {
    const body = await transactions.approved(bet());
    await settle(win({ roundId: body.roundId, ...fields }));
    return rollbackOf(body);
  };

  test.each(
    documentedRows<Rollbacks>('rollbacks', {
      'the ROLLBACK itself': async () => {
        const body = world.transaction(session, 'ROLLBACK');
        return Promise.resolve({ ...body, originalTransactionId: body.transactionId });
      },
      'a transaction of another player, operator, game, currency, mode or round': async () => {
        const target = await transactions.approved(bet());
        const { playerRef } = session;
        const others = await Promise.all([
          world.launch(),
          world.launch({ playerRef }, OTHER_OPERATOR),
          world.launch({ playerRef, gameId: OTHER_GAME }),
          world.launch({ playerRef, currency: 'USD' }),
          world.launch({ playerRef, mode: 'DEMO' }),
        ]);
        const { transactionId: originalTransactionId, roundId } = target;
        const ofOthers = others.map((other) =>
          world.transaction(other, 'ROLLBACK', { originalTransactionId, roundId }),
        );
        return [...ofOthers, rollbackOf(target, { roundId: 'another-round' })];
      },
      'any transaction, with another amount in the ROLLBACK': async () => {
        const reversed = await transactions.approved(bet());
        const targets = [
          reversed,
          await transactions.approved(win()),
          await transactions.approved(rollbackOf(reversed)),
        ];
        return targets.map((target) => rollbackOf(target, { amountMinor: 99 }));
      },
      'a WIN': async () => rollbackOf(await transactions.approved(win())),
      'a ROLLBACK': async () => {
        const body = await transactions.approved(bet());
        return rollbackOf(await transactions.approved(rollbackOf(body)));
      },
      'a `PENDING` BET, its lease not expired': async () => rollbackOf(await stillPending(bet())),
      'a BET, with another undecided ROLLBACK of it': async () => {
        const body = await transactions.approved(bet());
        await transactions.timedOut(rollbackOf(body));
        return rollbackOf(body);
      },
      'a BET that another ROLLBACK reversed': async () => {
        const body = await transactions.approved(bet());
        await transactions.approved(rollbackOf(body));
        return rollbackOf(body);
      },
      'a `DECLINED` BET': async () => rollbackOf(await transactions.declined(bet())),
      'an `APPROVED` BET of a round with an `APPROVED` WIN that settles it': async () => [
        await settledBy((body) => transactions.approved(body)),
        await settledBy((body) => transactions.approved(body), { winKind: 'JACKPOT' }),
      ],
      'an `APPROVED` BET of a round with an undecided WIN that would settle it': () =>
        settledBy((body) => transactions.timedOut(body)),
      'an `APPROVED` BET of a round with an `APPROVED` `PROMOTION`': () =>
        settledBy((body) => transactions.approved(body), { winKind: 'PROMOTION' }),
      'an `APPROVED` BET of a round with an undecided `TOURNAMENT`': () =>
        settledBy((body) => transactions.timedOut(body), { winKind: 'TOURNAMENT' }),
      'an `APPROVED` BET': async () => rollbackOf(await transactions.approved(bet())),
      'a `TIMED_OUT` BET': async () => rollbackOf(await transactions.timedOut(bet())),
      'a `PENDING` BET, its lease expired': async () => rollbackOf(await transactions.abandoned(bet())),
      unknown: () => Promise.resolve(rollbackOf(bet())),
      'a tombstone of an undecided ROLLBACK': async () => {
        const neverSent = bet();
        await transactions.timedOut(rollbackOf(neverSent));
        return rollbackOf(neverSent);
      },
      'a tombstone of an approved ROLLBACK': async () => {
        const neverSent = bet();
        await transactions.approved(rollbackOf(neverSent));
        return rollbackOf(neverSent);
      },
      'a tombstone of a declined ROLLBACK': async () => {
        const neverSent = bet();
        await transactions.declined(rollbackOf(neverSent));
        return rollbackOf(neverSent);
      },
    }),
  )('$row.0: $row.1', async ({ row, scenario }) => {
    for (const body of [await scenario()].flat()) await expectRow(row, body);
  });
});

describe("section 3, the table of the operator's answers", () => {
  const answers = (status: number, body: object | string) => ({ do: 'answer', status, body }) as const;
  const named = (fields: string) => ({ do: 'answer-call', fields }) as const;

  test.each(
    documentedRows<Parameters<World['wallet']['next']>[0]>('operator-answers', {
      approves: { do: 'book-then', then: { do: 'reply' } },
      declines: { do: 'decline', reason: 'INSUFFICIENT_FUNDS' },
      'answers later than the time-out': { do: 'hang' },
      'closes the connection without an answer': { do: 'drop' },
      'answers 302': { do: 'redirect', to: '/elsewhere', status: 302 },
      'answers 404': answers(404, { error: 'not found' }),
      'answers 503': answers(503, '<html>'),
      'answers 200 with a body that is not JSON': { do: 'garbage' },
      'answers 200 without a balance': named('"status":"APPROVED"'),
      'answers 200 with another status': named('"status":"BOOKED","balance":1'),
      'answers 200 without a transactionId': answers(200, { status: 'APPROVED', balance: 1 }),
      'answers 200 with the transactionId of another call': answers(200, {
        transactionId: 'another',
        status: 'APPROVED',
        balance: 1,
      }),
      'answers 200 with a `Content-Encoding`': {
        ...named('"status":"APPROVED","balance":1'),
        headers: { 'Content-Encoding': 'gzip' },
      },
    }),
  )('$row.0: $row.1', async ({ row, scenario }) => {
    const [, answer, state] = row;
    const body = bet();
    world.wallet.next(scenario, { transactionId: body.transactionId });
    const reply = await world.submit(body);
    expectDocumented(reply, answer ?? '');
    expect(`\`${await world.stateOf(body.transactionId)}\``).toBe(state);
    if (reply.status === 500) expect(reply.headers.get('x-next-action')).toBe('retry-same-request');
  });
});

describe('section 3, the table of sessions', () => {
  interface Situation {
    /** Set up before the session is used. */
    readonly before?: () => Promise<unknown>;
    /** Changes the session after its first BET. */
    readonly then: () => Promise<unknown>;
    readonly provider?: string;
    readonly fields?: object;
  }
  const expire = (seconds = 1) => world.ageSession(session, 60 + seconds);
  const allowLate = (lateSettlementSeconds = LATE_SECONDS) =>
    patch(`/v1/admin/providers/${PROVIDER}`, { lateSettlementSeconds });
  const patch = async (path: string, body: object) =>
    expect((await world.admin('PATCH', path, body)).status).toBe(200);
  const setGame = async (status: string) => {
    const game = { providerId: PROVIDER, name: GAME, status };
    expect((await world.admin('PUT', `/v1/admin/games/${GAME}`, game)).status).toBe(200);
  };
  const setOperator = (status: string) => patch(`/v1/admin/operators/${OPERATOR}`, { status });
  const setPaused = async (kind: string, id: string) => {
    const path = `/v1/admin/${kind}/${id}`;
    expect((await world.admin('POST', `${path}/pause`, { reason: 'test' })).status).toBe(200);
    resume = () => world.admin('POST', `${path}/resume`);
  };
  const nothing = () => Promise.resolve();
  let resume: () => Promise<unknown> = nothing;

  const sessions: Record<string, Situation> = {
    'is unknown': { then: nothing, fields: { sessionToken: 'unknown' } },
    'has expired': { then: expire },
    'was revoked': { then: () => world.revoke(session.sessionId) },
    'has expired, within `lateSettlementSeconds`': { before: allowLate, then: expire },
    'has expired, longer ago than `lateSettlementSeconds`': {
      before: allowLate,
      then: () => expire(LATE_SECONDS + 1),
    },
    'belongs to another provider': { then: nothing, provider: OTHER_PROVIDER },
    'belongs to another provider, and has expired': { then: expire, provider: OTHER_PROVIDER },
    'has another player than the request': { then: nothing, fields: { playerRef: 'another-player' } },
    'is of a disabled game': { then: () => setGame('DISABLED') },
    'is of a disabled operator': { then: () => setOperator('DISABLED') },
    'is of a paused game': { then: () => setPaused('games', GAME) },
    'is of a paused provider': { then: () => setPaused('providers', PROVIDER) },
    'is of a paused operator': { then: () => setPaused('operators', OPERATOR) },
  };
  const requests: Record<string, (approved: TransactionBody) => TransactionBody> = {
    BET: () => bet(),
    'WIN on an `APPROVED` BET': ({ roundId }) => win({ roundId }),
    'ROLLBACK of an `APPROVED` BET': (approved) => rollbackOf(approved),
    'the same BET again, which was `APPROVED`': (approved) => approved,
    'WIN in a round without a BET': () => win(),
    'WIN in a round without a BET, with `freeSpinsRef`': () => win({ freeSpinsRef: 'batch-1' }),
    'WIN in a round without a BET, a `PROMOTION`': () => win({ winKind: 'PROMOTION' }),
  };

  afterEach(async () => {
    await allowLate(0);
    await setGame('ACTIVE');
    await setOperator('ACTIVE');
    await resume();
  });

  test.each(executedTable('sessions'))('%s, %s: %s', async (state, request, answer) => {
    const situation = sessions[state];
    const bodyOf = requests[request];
    if (!situation || !bodyOf) throw new Error('this row has no scenario');
    await situation.before?.();
    const approved = await transactions.approved(bet());
    await situation.then();
    const body = { ...bodyOf(approved), ...situation.fields };
    expectDocumented(await world.submit(body, situation.provider), answer);
  });
});

/** Submits a transaction that stays PENDING until the test has ended. */
async function stillPending(body: TransactionBody): Promise<TransactionBody> {
  pending.push(await transactions.pending(body));
  return body;
}
const pending: Awaited<ReturnType<Transactions['pending']>>[] = [];
afterEach(async () => {
  for (const { release, answer } of pending.splice(0)) {
    release();
    await answer;
  }
});
