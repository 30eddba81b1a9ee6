import { ok } from '../../broken-server.js';
import { approved, type Change, correct, declined, type Order } from '../reference-wallet.js';
import type { WalletBug } from '../wallet-bug.js';

/** A wallet that answers otherwise if the player has no account. */
const unknown =
  (change: (order: Order) => { status: number; body: object | string } | undefined) => (): Change => ({
    book(order, request) {
      const reply = this.accounts.has(this.accountOfOrder(order)) ? undefined : change(order);
      return reply ? Promise.resolve(reply) : correct.book.call(this, order, request);
    },
  });

const inFirstCurrency = (kind: string) => (): Change => ({
  accountOfOrder({ kind: ofOrder, playerRef, currency }) {
    return this.accountOf(playerRef, ofOrder === kind ? 'EUR' : currency);
  },
});

export const ACCOUNT_BUGS: WalletBug[] = [
  {
    bug: 'opens an account for every player',
    change: () => ({
      judge(order, request) {
        const account = this.accountOfOrder(order);
        if (order.kind !== 'ROLLBACK' && !this.accounts.has(account)) this.accounts.set(account, 5_000);
        return correct.judge.call(this, order, request);
      },
    }),
    failsCases: ['bet-unknown-player', 'credit-unknown-player'],
  },
  {
    bug: 'shows money of a player without an account',
    change: () => ({
      answerNoAccount: ({ playerRef, currency }) => ok({ playerRef, currency, balance: 5_000 }),
    }),
    failsCases: ['balance-unknown-player'],
  },
  {
    bug: 'answers 400 to a balance call for an unknown player',
    change: () => ({ answerNoAccount: () => ({ status: 400, body: '' }) }),
    failsCases: ['balance-unknown-player'],
  },
  {
    bug: 'fails at the balance of a player without an account',
    change: () => ({ answerNoAccount: () => ({ status: 500, body: '' }) }),
    failsCases: ['balance-unknown-player'],
  },
  {
    bug: 'answers 404 to a BET of an unknown player',
    change: unknown(({ kind }) => (kind === 'BET' ? { status: 404, body: '' } : undefined)),
    failsCases: ['bet-unknown-player'],
  },
  {
    bug: 'fails at a BET of an unknown player',
    change: unknown(({ kind }) => (kind === 'BET' ? { status: 500, body: '' } : undefined)),
    failsCases: ['bet-unknown-player', 'rollback-declined-unknown-player'],
  },
  {
    bug: 'fails at a WIN of an unknown player',
    change: unknown(({ kind }) => (kind === 'WIN' ? { status: 500, body: '' } : undefined)),
    failsCases: ['credit-unknown-player'],
  },
  {
    bug: 'approves a WIN of an unknown player',
    change: unknown(({ kind, transactionId }) =>
      kind === 'WIN' ? ok({ transactionId, status: 'APPROVED', balance: 0 }) : undefined,
    ),
    failsCases: ['credit-unknown-player'],
  },
  {
    bug: 'approves an ADJUSTMENT of an unknown player',
    change: unknown(({ kind, transactionId }) =>
      kind === 'ADJUSTMENT' ? ok({ transactionId, status: 'APPROVED', balance: 0 }) : undefined,
    ),
    failsCases: ['credit-unknown-player'],
  },
  {
    bug: 'answers a BET of an unknown player without a balance',
    change: unknown(({ transactionId }) =>
      ok({ transactionId, status: 'DECLINED', reason: 'PLAYER_UNKNOWN' }),
    ),
    failsCases: ['bet-unknown-player'],
  },
  {
    bug: 'declines an unknown player with a balance',
    change: () => ({
      shownBalance(order, booking, isRepeated) {
        const isKnown = this.accounts.has(this.accountOfOrder(order));
        return isKnown ? correct.shownBalance.call(this, order, booking, isRepeated) : 5_000;
      },
    }),
    failsCases: ['bet-unknown-player', 'credit-unknown-player'],
  },
  {
    bug: 'answers 404 to a WIN of an unknown player',
    change: unknown(({ kind }) => (kind === 'WIN' ? { status: 404, body: '' } : undefined)),
    failsCases: ['credit-unknown-player'],
  },
  {
    bug: 'answers 404 to a ROLLBACK of an unknown player',
    change: unknown(({ kind }) => (kind === 'ROLLBACK' ? { status: 404, body: '' } : undefined)),
    failsCases: ['rollback-unknown-player', 'longest-player'],
  },
  {
    bug: 'declines a ROLLBACK of an unknown player',
    change: () => ({
      judgeRollback(order) {
        return this.accounts.has(this.accountOfOrder(order))
          ? correct.judgeRollback.call(this, order)
          : declined('PLAYER_UNKNOWN');
      },
    }),
    failsCases: ['rollback-unknown-player', 'rollback-declined-unknown-player'],
  },
  {
    bug: 'leaves no tombstone for an unknown player',
    change: () => ({
      rememberRollback(order) {
        if (this.accounts.has(this.accountOfOrder(order))) correct.rememberRollback.call(this, order);
      },
    }),
    failsCases: ['rollback-unknown-player'],
  },
  {
    bug: 'has one account for all currencies',
    change: () => ({ accountOf: (playerRef) => JSON.stringify(playerRef) }),
    failsCases: ['currency-without-account', 'currency-bet-win', 'currency-funds'],
  },
  {
    bug: 'shows the balance of the first currency for every other',
    change: () => ({
      answerBalance(body, request) {
        const { playerRef, currency } = body;
        const account = this.accountOf(String(playerRef), 'EUR');
        return Promise.resolve(ok({ playerRef, currency, balance: this.readBalance(account, request) }));
      },
    }),
    failsCases: ['currency-without-balance'],
  },
  {
    bug: 'checks the funds in another currency',
    change: () => ({
      fundsOf({ playerRef }) {
        return Math.max(...['EUR', 'USD'].map((currency) => this.load(this.accountOf(playerRef, currency))));
      },
    }),
    failsCases: ['currency-funds'],
  },
  ...['BET', 'WIN', 'ROLLBACK', 'ADJUSTMENT'].map((kind): WalletBug => ({
    bug: `books a ${kind} in the first currency`,
    change: inFirstCurrency(kind),
    failsCases: [kind === 'ROLLBACK' ? 'currency-rollback' : 'currency-bet-win'],
  })),
  {
    bug: 'names the first currency beside each balance',
    change: () => ({
      async answerBalance(body, request) {
        const reply = await correct.answerBalance.call(this, body, request);
        return reply.status === 200 ? ok({ ...(reply.body as object), currency: 'EUR' }) : reply;
      },
    }),
    failsCases: ['currency-balances-at-once'],
  },
  {
    bug: 'takes the money of its first player',
    change: () => ({
      accountOfOrder({ kind, playerRef, currency }) {
        return this.accountOf(kind === 'BET' ? 'player-1' : playerRef, currency);
      },
    }),
    failsCases: ['bet-other-player', 'bet-unknown-player', 'one-round-of-two-players'],
  },
  {
    bug: 'pays to its first player',
    change: () => ({
      accountOfOrder({ kind, playerRef, currency }) {
        return this.accountOf(kind === 'WIN' ? 'player-1' : playerRef, currency);
      },
    }),
    failsCases: ['one-round-of-two-players', 'players-at-once'],
  },
  {
    bug: 'compares playerRefs without regard to upper and lower case',
    change: () => ({ accountOf: (playerRef, currency) => `${playerRef.toLowerCase()} ${currency}` }),
    failsCases: ['bet-lookalike-player'],
  },
  {
    bug: 'takes playerRefs for patterns',
    change: () => ({
      accountOf(playerRef, currency) {
        const pattern = new RegExp(
          `^${playerRef
            .replace(/[^\w%-]/g, '\\$&')
            .replaceAll('_', '.')
            .replaceAll('%', '.*')} ${currency}$`,
        );
        return (
          [...this.accounts.keys()].find((account) => pattern.test(account)) ?? `${playerRef} ${currency}`
        );
      },
    }),
    failsCases: ['bet-lookalike-player'],
  },
  {
    bug: 'approves BETs and moves nothing',
    change: () => ({ judgeBet: () => approved(0) }),
    failsCases: ['bet-booked', 'bet-other-player'],
  },
];
