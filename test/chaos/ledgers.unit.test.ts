import { describe, expect, test } from 'vitest';
import { Ledgers, OperatorLedger } from '../../chaos/judge/ledgers.js';
import type { Fixed } from '../../chaos/judge/moves.js';
import { type Intent, intentKey } from '../../chaos/load/history.js';
import type { Row } from '../../chaos/model/rows.js';
import { Ledger, type Order } from '../../src/sandbox/ledger.js';
import type { Kind, State } from '../../src/wallet/rules/facts.js';

const PROVIDER = 'spinwell';
const PLAYER = { playerRef: 'player-1', currency: 'EUR' };
const ROUND = { gameId: 'reels', roundId: 'round-1' };
const TARGET = 'bet-1';

/** A transaction as all three parties have it. */
interface Seen {
  readonly transactionId: string;
  readonly kind: Kind;
  /** What the platform stores. */
  readonly state: State;
  /** What the provider was answered last. */
  readonly answered: 'APPROVED' | 'DECLINED';
  /** Whether the operator received it. */
  readonly sent: boolean;
}

const bet = (changes: Partial<Seen>): Seen => ({
  transactionId: TARGET,
  kind: 'BET',
  state: 'APPROVED',
  answered: 'APPROVED',
  sent: true,
  ...changes,
});
const rollback = (changes: Partial<Seen>): Seen => ({
  ...bet(changes),
  transactionId: 'undo-1',
  kind: 'ROLLBACK',
});

function findings(transactions: readonly Seen[]): readonly string[] {
  const wallet = new Ledger();
  const operator = new OperatorLedger();
  const rows = new Map<string, Row>();
  const fixed = new Map<string, Fixed>();
  const intents = new Map<string, Intent>();
  for (const { transactionId, kind, state, answered, sent } of transactions) {
    const target = kind === 'ROLLBACK' ? { originalTransactionId: TARGET } : {};
    const order: Order = { providerId: PROVIDER, transactionId, kind, ...PLAYER, amountMinor: 10, ...target };
    if (sent) {
      const entry = wallet.judge(order, new Date(0));
      wallet.record(entry);
      operator.add(entry);
    }
    const first: Fixed = {
      platformTransactionId: '',
      kind,
      operatorId: 'lucky',
      sessionId: 'session-1',
      mode: 'REAL',
      gameId: ROUND.gameId,
      currency: PLAYER.currency,
      amountMinor: 10,
      originalTransactionId: target.originalTransactionId ?? null,
      freeSpinsRef: null,
      winKind: null,
      promotionRef: null,
      verdict: sent ? null : answered,
      declineReason: null,
    };
    fixed.set(transactionId, first);
    const settled = { state, attempt: 1, leaseUntil: null, rollbackId: null, responseBody: null };
    rows.set(transactionId, {
      providerId: PROVIDER,
      transactionId,
      ...PLAYER,
      ...ROUND,
      ...first,
      ...settled,
    });
    const answer = {
      sent: 1,
      answered: 2,
      instance: 0,
      status: 200,
      body: JSON.stringify({ status: answered }),
    };
    intents.set(intentKey(PROVIDER, transactionId), {
      session: {
        providerId: PROVIDER,
        operatorId: 'lucky',
        sessionId: 'session-1',
        sessionToken: 'token',
        playerRef: PLAYER.playerRef,
        gameId: ROUND.gameId,
      },
      request: { ...PLAYER, ...ROUND, transactionId, kind, amountMinor: 10, ...target },
      answers: [answer],
    });
  }
  const ledgers = new Ledgers(new Map([['lucky', operator]]), intents);
  ledgers.compareRound(rows, fixed);
  ledgers.finish();
  return ledgers.violations;
}

describe('the comparison of the ledgers accepts', () => {
  test.each<{ what: string; transactions: Seen[] }>([
    { what: 'a BET that stands', transactions: [bet({})] },
    {
      what: 'a BET that a ROLLBACK reversed',
      transactions: [bet({ state: 'ROLLED_BACK', answered: 'DECLINED' }), rollback({})],
    },
    {
      what: 'a ROLLBACK that was declined',
      transactions: [bet({}), rollback({ state: 'DECLINED', answered: 'DECLINED', sent: false })],
    },
    {
      what: 'a ROLLBACK of a BET that the platform declined itself, without asking the operator',
      transactions: [
        bet({ state: 'DECLINED', answered: 'DECLINED', sent: false }),
        rollback({ sent: false }),
      ],
    },
  ])('$what', ({ transactions }) => {
    expect(findings(transactions)).toEqual([]);
  });
});

describe('the comparison of the ledgers finds', () => {
  test.each<{ what: string; transactions: Seen[]; says: RegExp }>([
    {
      what: 'an APPROVED ROLLBACK that the operator never received, so that its BET stands',
      transactions: [bet({}), rollback({ sent: false })],
      says: /undo-1: it is APPROVED, but its target spinwell bet-1 stands at the operator/,
    },
    {
      what: 'an APPROVED BET that the operator reversed',
      transactions: [bet({}), rollback({})],
      says: /bet-1: the platform stores APPROVED, the operator has APPROVED, reversed/,
    },
    {
      what: 'an APPROVED BET that the operator does not have',
      transactions: [bet({}), bet({ transactionId: 'bet-2', sent: false })],
      says: /sums differ/,
    },
  ])('$what', ({ transactions, says }) => {
    expect(findings(transactions)).toContainEqual(expect.stringMatching(says));
  });
});
