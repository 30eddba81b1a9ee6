import { setTimeout as delay } from 'node:timers/promises';
import { ok } from '../../broken-server.js';
import { type Change, correct, type Order, type ReferenceWallet } from '../reference-wallet.js';
import type { WalletBug } from '../wallet-bug.js';

/** Long enough for the calls that arrive at once to overtake each other, in milliseconds. */
const RACE_MS = 100;

/** Adds to the balance as it is by then. */
const ADDING: Change = {
  store(account, _, movedMinor) {
    this.accounts.set(account, this.load(account) + movedMinor);
  },
};

/** A wallet that does not lock enough, and whose database takes a few milliseconds. */
const races = (locksOf: (this: ReferenceWallet, order: Order) => string[]) => (): Change => ({
  locksOf,
  pause: () => delay(RACE_MS),
});

/** A wallet that moves money with one statement, but does not lock for transactions of this kind. */
const without = (kind: string) => (): Change => ({
  ...races(function (order) {
    return order.kind === kind ? [] : correct.locksOf.call(this, order);
  })(),
  ...ADDING,
});

export const CONCURRENCY_BUGS: WalletBug[] = [
  {
    bug: 'locks nothing',
    change: races(() => []),
    failsCases: ['bets-at-once', 'mixed-at-once', 'bets-beyond-funds-at-once', 'different-rollbacks-at-once'],
  },
  {
    bug: 'locks the transaction but not the account',
    change: races(({ providerId, transactionId }) => [`${providerId} ${transactionId}`]),
    failsCases: [
      'bets-at-once',
      'mixed-at-once',
      'bets-beyond-funds-at-once',
      'bets-and-debit-at-once',
      'different-rollbacks-at-once',
    ],
  },
  {
    bug: 'does not lock for BETs',
    change: without('BET'),
    failsCases: ['bet-at-once', 'bets-beyond-funds-at-once'],
  },
  { bug: 'does not lock for WINs', change: without('WIN'), failsCases: ['win-at-once'] },
  {
    bug: 'does not lock for ROLLBACKs',
    change: without('ROLLBACK'),
    failsCases: ['rollbacks-at-once', 'rollback-at-once'],
  },
  { bug: 'does not lock for ADJUSTMENTs', change: without('ADJUSTMENT'), failsCases: ['adjustment-at-once'] },
  {
    bug: 'checks the funds before it locks the account',
    change: () => ({
      locksOf: ({ providerId, transactionId }) => [`${providerId} ${transactionId}`],
      pause: () => delay(RACE_MS),
      store(account, _, movedMinor) {
        this.accounts.set(account, this.load(account) + movedMinor);
      },
    }),
    failsCases: ['bets-beyond-funds-at-once'],
  },
  {
    bug: 'looks transactions up before it locks the account',
    change: () => {
      const isNew = new WeakSet<Order>();
      return {
        async book(order, request) {
          if (isNew.has(order)) return correct.book.call(this, order, request);
          isNew.add(order);
          const known = await this.find(order, request);
          await delay(RACE_MS);
          if (known) return this.answer(order, known, true, request);
          return this.locked([this.accountOfOrder(order)], async () => {
            const booking = await this.record(order, await this.judge(order, request), request);
            return this.answer(order, booking, false, request);
          });
        },
        locksOf: () => [],
      };
    },
    failsCases: ['bet-at-once', 'win-at-once', 'adjustment-at-once'],
  },
  {
    bug: 'books a BET while its ROLLBACK passes',
    change: () => ({
      async judge(order, request) {
        const verdict = await correct.judge.call(this, order, request);
        if (order.kind === 'BET') await delay(RACE_MS);
        return verdict;
      },
      locksOf: ({ kind, providerId, transactionId }) => [`${kind} ${providerId} ${transactionId}`],
      store(account, _, movedMinor) {
        this.accounts.set(account, this.load(account) + movedMinor);
      },
    }),
    failsCases: ['bet-and-rollback-at-once'],
  },
  {
    bug: 'keeps the balances of a player in one document, which calls in two currencies overwrite',
    change: () => ({
      async record(order, verdict, request) {
        const accounts = ['EUR', 'USD'].map((currency) => this.accountOf(order.playerRef, currency));
        const document = accounts.map((account) => [account, this.load(account)] as const);
        await delay(RACE_MS);
        for (const [account, balance] of document) this.accounts.set(account, balance);
        return correct.record.call(this, order, verdict, request);
      },
    }),
    failsCases: ['currency-at-once'],
  },
  {
    bug: 'does not find a BET while its ROLLBACK is booked',
    change: () => ({
      ...ADDING,
      locksOf: ({ providerId, transactionId }) => [`${providerId} ${transactionId}`],
      async record(order, verdict, request) {
        const target = this.targetOf(order);
        if (order.kind !== 'ROLLBACK' || !target) return correct.record.call(this, order, verdict, request);
        this.bookings.delete(this.keyOfOrder(target.order));
        await delay(RACE_MS);
        this.remember(target);
        return correct.record.call(this, order, verdict, request);
      },
    }),
    failsCases: ['repeated-bet-and-rollback-at-once'],
  },
  {
    bug: 'declines a BET that is being booked',
    change: () => {
      const underWay = new Set<string>();
      return {
        locksOf: () => [],
        async book(order, request) {
          const key = this.keyOfOrder(order);
          if (order.kind === 'BET' && underWay.has(key))
            return ok({
              transactionId: order.transactionId,
              status: 'DECLINED',
              balance: this.fundsOf(order),
            });
          underWay.add(key);
          await delay(RACE_MS);
          const reply = await correct.book.call(this, order, request);
          underWay.delete(key);
          return reply;
        },
      };
    },
    failsCases: ['bet-at-once', 'bet-at-once-last-money'],
  },
  {
    bug: 'never answers a call that arrives while the same one is under way',
    change: () => {
      const underWay = new Set<string>();
      return {
        locksOf: () => [],
        async book(order, request) {
          const key = this.keyOfOrder(order);
          if (underWay.has(key)) await new Promise(() => undefined);
          underWay.add(key);
          await delay(RACE_MS);
          const reply = await correct.book.call(this, order, request);
          underWay.delete(key);
          return reply;
        },
      };
    },
    failsCases: ['bet-at-once', 'rollback-at-once'],
    options: ['--timeout-ms', '1000'],
  },
  {
    bug: 'never decides a transaction that arrived while the account was busy',
    change: () => {
      const underWay = new Set<string>();
      const refused = new Set<string>();
      return {
        async book(order, request) {
          const account = this.accountOfOrder(order);
          const key = this.keyOfOrder(order);
          if (underWay.has(account)) refused.add(key);
          if (refused.has(key)) return { status: 503, body: '' };
          underWay.add(account);
          await delay(RACE_MS);
          const reply = await correct.book.call(this, order, request);
          underWay.delete(account);
          return reply;
        },
        locksOf: () => [],
      };
    },
    failsCases: ['bets-at-once', 'mixed-at-once'],
    options: ['--timeout-ms', '1000'],
  },
  {
    bug: 'waits forever if two players bet at once',
    change: () => {
      const underWay = new Set<string>();
      return {
        async book(order, request) {
          underWay.add(order.playerRef);
          if (underWay.size > 1) await new Promise(() => undefined);
          await delay(RACE_MS);
          const reply = await correct.book.call(this, order, request);
          underWay.delete(order.playerRef);
          return reply;
        },
        locksOf: () => [],
      };
    },
    failsCases: ['players-at-once'],
    options: ['--timeout-ms', '1000'],
  },
  {
    bug: 'answers one balance call at a time',
    change: () => {
      let isAsked = false;
      return {
        async answerBalance(body, request) {
          if (isAsked) return { status: 503, body: '' };
          isAsked = true;
          await delay(RACE_MS);
          isAsked = false;
          return correct.answerBalance.call(this, body, request);
        },
      };
    },
    failsCases: ['balance-at-once', 'balance-echo-at-once'],
  },
  {
    bug: 'reads balances from a replica that is a few milliseconds behind',
    change: () => {
      const replica = new Map<string, number>();
      return {
        store(account, beforeMinor, movedMinor) {
          if (!replica.has(account)) replica.set(account, beforeMinor);
          correct.store.call(this, account, beforeMinor, movedMinor);
          setTimeout(() => replica.set(account, this.load(account)), 20);
        },
        readBalance(account) {
          return replica.get(account) ?? this.load(account);
        },
      };
    },
    failsCases: ['balance-after-booking'],
  },
  {
    bug: 'reads balances on new connections from a replica',
    change: () => {
      const replica = new Map<string, number>();
      const seen = new WeakSet<object>();
      return {
        store(account, beforeMinor, movedMinor) {
          if (!replica.has(account)) replica.set(account, beforeMinor);
          correct.store.call(this, account, beforeMinor, movedMinor);
          setTimeout(() => replica.set(account, this.load(account)), 50);
        },
        readBalance(account, { socket }) {
          const isNew = !seen.has(socket);
          seen.add(socket);
          return isNew ? (replica.get(account) ?? this.load(account)) : this.load(account);
        },
      };
    },
    failsCases: ['balance-after-booking'],
  },
  {
    bug: 'caches balances for a second',
    change: () => {
      const cached = new Map<string, { balance: number; at: number }>();
      return {
        readBalance(account) {
          const known = cached.get(account);
          if (known && Date.now() - known.at < 1_000) return known.balance;
          const balance = this.load(account);
          cached.set(account, { balance, at: Date.now() });
          return balance;
        },
      };
    },
    failsCases: ['balance-after-booking', 'bet-booked'],
  },
  {
    bug: 'loses one booking in fifty',
    change: () => {
      let bookings = 0;
      return {
        store(account, beforeMinor, movedMinor) {
          bookings += 1;
          correct.store.call(this, account, beforeMinor, bookings % 50 === 0 ? 0 : movedMinor);
        },
      };
    },
    failsCases: ['latency'],
    options: ['--calls', '250'],
  },
  {
    bug: 'books after it has answered',
    change: () => ({
      record(order, verdict) {
        const booking = { ...verdict, order, reference: this.newReference() };
        this.remember(booking);
        if (order.kind === 'ROLLBACK' && verdict.status === 'APPROVED') this.rememberRollback(order);
        const account = this.accountOfOrder(order);
        setTimeout(() => this.store(account, this.load(account), verdict.movedMinor), 30);
        return Promise.resolve(booking);
      },
      shownBalance(order, { movedMinor }, isRepeated) {
        return this.load(this.accountOfOrder(order)) + (isRepeated ? 0 : movedMinor);
      },
    }),
    failsCases: ['balance-after-booking', 'bet-booked'],
  },
];
