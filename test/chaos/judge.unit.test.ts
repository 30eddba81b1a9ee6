import { describe, expect, test } from 'vitest';
import { judgeBalances } from '../../chaos/judge/balances.js';
import type { Fixed, Move } from '../../chaos/judge/moves.js';
import { judgeRound } from '../../chaos/judge/round.js';
import type { Answer, Intent, PlayerSession } from '../../chaos/load/history.js';
import { planOf, scriptedPlan } from '../../chaos/plan.js';
import { SETTING_NAMES } from '../../chaos/settings.js';
import type { TransactionRequest } from '../../src/wallet/rules/facts.js';

const SESSION: PlayerSession = {
  providerId: 'spinwell',
  operatorId: 'lucky',
  sessionId: '6f9619ff-8b86-4011-b42d-00c04fc964ff',
  sessionToken: 'token',
  playerRef: 'player-1',
  gameId: 'reels',
};
const ROUND = { playerRef: 'player-1', gameId: 'reels', currency: 'EUR', roundId: 'round-1' };
const BET: TransactionRequest = { ...ROUND, kind: 'BET', transactionId: 'bet-1', amountMinor: 10 };
const WIN: TransactionRequest = { ...ROUND, kind: 'WIN', transactionId: 'win-1', amountMinor: 30 };
const UNDO: TransactionRequest = {
  ...ROUND,
  kind: 'ROLLBACK',
  transactionId: 'undo-1',
  originalTransactionId: 'bet-1',
};
const BODY = '{"status":"APPROVED"}';

/** The moves of a round, ten seconds apart, each by its own database transaction. */
class Scene {
  readonly moves: Move[] = [];
  readonly intents = new Map<string, Intent>();

  claim(
    { transactionId, kind, amountMinor, originalTransactionId }: TransactionRequest,
    changes: Partial<Fixed> = {},
  ) {
    const fixed: Fixed = {
      platformTransactionId: '',
      kind,
      operatorId: 'lucky',
      sessionId: SESSION.sessionId,
      mode: 'REAL',
      gameId: 'reels',
      currency: 'EUR',
      amountMinor: amountMinor ?? 10,
      originalTransactionId: originalTransactionId ?? null,
      freeSpinsRef: null,
      winKind: null,
      promotionRef: null,
      verdict: null,
      declineReason: null,
      ...changes,
    };
    return this.move(transactionId, { fixed, state: 'PENDING', leaseUntil: this.at + 30_000 });
  }

  settle(transactionId: string, state: 'APPROVED' | 'DECLINED' | 'TIMED_OUT', changes: Partial<Move> = {}) {
    return this.move(transactionId, { state, responseBody: state === 'TIMED_OUT' ? null : BODY, ...changes });
  }

  move(transactionId: string, changes: Partial<Move>): this {
    const number = this.moves.length + 1;
    const nothing = { attempt: 1, leaseUntil: null, rollbackId: null, responseBody: null, fixed: null };
    const { providerId, playerRef } = SESSION;
    const key = { providerId, transactionId, playerRef, roundId: 'round-1' };
    const order = { seq: String(number), xid: String(number), at: this.at };
    this.moves.push({ ...key, ...order, ...nothing, state: 'PENDING', ...changes });
    return this;
  }

  asked(request: TransactionRequest, ...answers: Partial<Answer>[]): this {
    const full = answers.map((answer) => ({
      sent: this.at,
      answered: this.at + 10,
      instance: 0,
      status: 200,
      ...answer,
    }));
    this.intents.set(request.transactionId, { session: SESSION, request, answers: full });
    return this;
  }

  judge(): readonly string[] {
    return judgeRound(this.moves, this.intents).violations;
  }

  private get at(): number {
    return 1_000_000 + this.moves.length * 10_000;
  }
}

const scene = () => new Scene();

test('a correct round has no finding', () => {
  const played = scene().claim(BET).settle('bet-1', 'APPROVED').claim(WIN).settle('win-1', 'APPROVED');
  played.asked(BET, { body: BODY }).asked(WIN, { body: BODY }, { body: BODY, replayed: true });
  expect(played.judge()).toEqual([]);
});

describe('the judge finds', () => {
  test.each<{ finds: string; round: Scene; says: RegExp }>([
    {
      finds: 'a WIN that was claimed while its BET was undecided',
      round: scene()
        .claim(BET)
        .claim(WIN)
        .asked(BET)
        .asked(WIN, { sent: 1_009_990, answered: 1_010_100, status: 500 }),
      says: /win-1: claimed, but the rules decide .*TRANSACTION_IN_FLIGHT/,
    },
    {
      finds: 'a ROLLBACK that was claimed without its mark on the target, as if it was unknown',
      round: scene().claim(BET).claim(UNDO).asked(BET).asked(UNDO),
      says: /undo-1: claimed, but the rules decide/,
    },
    {
      finds: 'an attempt that was claimed while the lease was alive',
      round: scene().claim(BET).move('bet-1', { attempt: 2, leaseUntil: 2_000_000 }).asked(BET),
      says: /attempt 2 was claimed from PENDING/,
    },
    {
      finds: 'a settlement of a decided transaction',
      round: scene().claim(BET).settle('bet-1', 'APPROVED').settle('bet-1', 'DECLINED').asked(BET),
      says: /from APPROVED to DECLINED/,
    },
    {
      finds: 'a target that is settled while its ROLLBACK is under way',
      round: scene()
        .claim(BET)
        .settle('bet-1', 'TIMED_OUT')
        .claim(UNDO)
        .move('bet-1', { state: 'TIMED_OUT', rollbackId: 'undo-1', xid: '3' })
        .settle('bet-1', 'APPROVED', { rollbackId: 'undo-1' })
        .asked(BET)
        .asked(UNDO),
      says: /while undo-1 reverses it/,
    },
    {
      finds: 'a tombstone without its ROLLBACK',
      round: scene().move('bet-1', {
        state: 'ROLLED_BACK',
        rollbackId: 'undo-1',
        fixed: { ...scene().claim(BET).moves[0]!.fixed!, kind: null },
      }),
      says: /a tombstone without its ROLLBACK/,
    },
    {
      finds: 'an answer with other bytes than are stored',
      round: scene()
        .claim(BET)
        .settle('bet-1', 'APPROVED')
        .asked(BET, { body: `${BODY} ` }),
      says: /bet-1: was answered/,
    },
    {
      finds: 'an answer that was given before it was stored',
      round: scene().asked(BET, { body: BODY }).claim(BET).settle('bet-1', 'APPROVED'),
      says: /was answered before it was stored/,
    },
    {
      finds: 'a 409 without a cause',
      round: scene()
        .claim(BET)
        .settle('bet-1', 'APPROVED')
        .asked(BET, { sent: 2_000_000, answered: 2_000_010, status: 409, code: 'TRANSACTION_IN_FLIGHT' }),
      says: /was answered 409, although nothing was in flight/,
    },
  ])('$finds', ({ round, says }) => {
    expect(round.judge()).toEqual([expect.stringMatching(says)]);
  });
});

describe('the plan', () => {
  const parts = { instances: 2, database: true, redis: true };

  test('is the same for the same seed, and differs for another', () => {
    expect(planOf(7, 10, parts)).toEqual(planOf(7, 10, parts));
    expect(planOf(8, 10, parts)).not.toEqual(planOf(7, 10, parts));
  });

  test('of ten minutes has every kind of fault', () => {
    const { faults, everySeconds } = planOf(7, 10, parts);
    const kinds = new Set(Object.values(faults).flatMap((lane) => lane.map(({ fault }) => fault.kind)));
    expect([...kinds].sort()).toEqual(Object.keys(everySeconds).sort());
  });

  test.each([
    { minutes: 1, quietAtMs: [] },
    { minutes: 2, quietAtMs: [] },
    { minutes: 5, quietAtMs: [120_000, 240_000] },
  ])('of $minutes minutes pauses every two minutes, but not at its end', ({ minutes, quietAtMs }) => {
    expect(planOf(7, minutes, parts).quietAtMs).toEqual(quietAtMs);
  });

  test('has faults in proportion to the given rate', () => {
    const count = (faultRate: number) =>
      Object.values(planOf(7, 60, parts, faultRate).faults).reduce((sum, lane) => sum + lane.length, 0);
    expect(count(0.5) / count(1)).toBeCloseTo(0.5, 1);
  });

  test('of the script has every kind of fault, within two minutes', () => {
    const { faults } = scriptedPlan(1, parts);
    const all = Object.values(faults).flat();
    const kinds = new Set(all.map(({ fault }) => fault.kind));
    expect([...kinds].sort()).toEqual(Object.keys(planOf(1, 1, parts).everySeconds).sort());
    expect(Math.max(...all.map(({ atMs }) => atMs))).toBeLessThan(90_000);
  });

  test('of the script changes the settings that a connection states, and the one that it cannot state', () => {
    const settings = scriptedPlan(1, parts).faults.database.flatMap(({ fault }) =>
      fault.kind === 'database-settings' ? fault.settings : [],
    );
    expect([...settings].sort()).toEqual([...SETTING_NAMES].sort());
  });

  test('of the script for one instance leaves the embedded database alone', () => {
    const { faults } = scriptedPlan(1, { instances: 1, database: false, redis: false });
    expect(faults.database.map(({ fault }) => fault.kind)).toEqual(['database-kill']);
    expect(faults.names.every(({ fault }) => 'name' in fault && fault.name === 'wallet')).toBe(true);
  });

  test('without Redis and a separate PostgreSQL has none of their faults', () => {
    const { faults } = planOf(7, 10, { instances: 1, database: false, redis: false });
    expect(faults.redis).toEqual([]);
    expect(
      faults.links.every(
        ({ fault }) => 'link' in fault && fault.link !== 'redis' && fault.link !== 'database',
      ),
    ).toBe(true);
    expect(faults.names.length).toBeGreaterThan(0);
    expect(faults.names.every(({ fault }) => 'name' in fault && fault.name === 'wallet')).toBe(true);
    expect(new Set(faults.database.map(({ fault }) => fault.kind))).toEqual(new Set(['database-kill']));
  });
});

describe('a balance that a provider is told', () => {
  const call = { at: 0, operatorId: 'lucky', providerId: 'spinwell', transactionId: 'bet-1' };
  const calls = new Map([['spinwell bet-1', [{ ...call, fate: 'answered' as const, balances: [90, 95] }]]]);
  const reads = [
    { operatorId: 'lucky', playerRef: 'player-1', balance: 120 },
    { operatorId: 'lucky', playerRef: 'player-2', balance: 130 },
    { operatorId: 'royal', playerRef: 'player-1', balance: 140 },
  ];
  const told = (balance: number) => {
    const { intents } = scene().asked(BET, { status: 0 }, { body: JSON.stringify({ balance }) });
    return judgeBalances(intents.values(), calls, reads);
  };

  test.each([90, 95, 120])('may be %i, which the wallet stated about it', (balance) => {
    expect(told(balance)).toEqual([]);
  });

  test.each([100, 130, 140])('may not be %i, which the wallet stated to another call', (balance) => {
    expect(told(balance)).toEqual([
      `spinwell bet-1: the provider was told the balance ${balance}, which the wallet stated to another call`,
    ]);
  });
});
