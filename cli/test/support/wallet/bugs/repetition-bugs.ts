import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { ok } from '../../broken-server.js';
import { type Booking, type Change, correct, type Order, type ReferenceWallet } from '../reference-wallet.js';
import type { WalletBug } from '../wallet-bug.js';

/** A wallet that does not recognise a repetition in some cases. */
const forgets =
  (isForgotten: (this: ReferenceWallet, order: Order, known: Booking) => boolean) => (): Change => ({
    async find(order, request) {
      const known = await correct.find.call(this, order, request);
      return known && isForgotten.call(this, order, known) ? undefined : known;
    },
  });

/** A wallet that also compares this field of a repetition. */
const compares = (field: string) => forgets((order, known) => order[field] !== known.order[field]);

/** A wallet that answers a known transaction otherwise. */
const repeats = (reply: (order: Order, booking: Booking) => object) => (): Change => ({
  answer(order, booking, isRepeated, request) {
    return isRepeated
      ? ok({ transactionId: order.transactionId, ...reply(order, booking) })
      : correct.answer.call(this, order, booking, isRepeated, request);
  },
});

/** A wallet that forgets what is older than this time, in milliseconds. */
const forgetsAfter = (ms: number, kinds: readonly string[]) => (): Change => {
  const bookedAt = new WeakMap<Booking, number>();
  return {
    remember(booking) {
      bookedAt.set(booking, Date.now());
      correct.remember.call(this, booking);
    },
    async find(order, request) {
      const known = await correct.find.call(this, order, request);
      const isOld = known && kinds.includes(order.kind) && Date.now() - (bookedAt.get(known) ?? 0) > ms;
      return isOld ? undefined : known;
    },
  };
};

/** Whether the caller has closed the connection. */
const isBroken = ({ socket }: IncomingMessage) => socket.destroyed || socket.readableEnded;

const ONE_SECOND = ['--patience-seconds', '1'];
const ALL = ['BET', 'WIN', 'ROLLBACK', 'ADJUSTMENT'];

export const REPETITION_BUGS: WalletBug[] = [
  {
    bug: 'books a BET each time',
    change: forgets(({ kind }) => kind === 'BET'),
    failsCases: [
      'bet-repeated',
      'bet-repeated-later',
      'bet-recognised',
      'bet-at-once',
      'bet-at-once-last-money',
    ],
  },
  {
    bug: 'books a WIN each time',
    change: forgets(({ kind }) => kind === 'WIN'),
    failsCases: ['win-repeated', 'win-recognised', 'win-at-once'],
  },
  {
    bug: 'books an ADJUSTMENT each time',
    change: forgets(({ kind }) => kind === 'ADJUSTMENT'),
    failsCases: ['adjustment-repeated', 'adjustment-recognised', 'adjustment-at-once'],
  },
  {
    bug: 'books a JACKPOT each time',
    change: forgets((order) => order['winKind'] === 'JACKPOT'),
    failsCases: ['prize-repeated'],
  },
  {
    bug: 'books winnings of free spins each time',
    change: forgets((order) => order['freeSpinsRef'] !== undefined),
    failsCases: ['prize-repeated'],
  },
  {
    bug: 'remembers the latest five transactions',
    change: () => ({
      remember(booking) {
        correct.remember.call(this, booking);
        const [oldest] = this.bookings.keys();
        if (oldest !== undefined && this.bookings.size > 5) this.bookings.delete(oldest);
      },
    }),
    failsCases: ['bet-repeated-later'],
  },
  {
    bug: 'forgets BETs after a moment',
    change: forgetsAfter(300, ['BET']),
    failsCases: ['bet-recognised'],
    options: ONE_SECOND,
  },
  {
    bug: 'forgets WINs after a moment',
    change: forgetsAfter(300, ['WIN']),
    failsCases: ['win-recognised'],
    options: ONE_SECOND,
  },
  {
    bug: 'forgets ADJUSTMENTs after a moment',
    change: forgetsAfter(300, ['ADJUSTMENT']),
    failsCases: ['adjustment-recognised'],
    options: ONE_SECOND,
  },
  {
    bug: 'forgets ROLLBACKs after a moment',
    change: () => {
      const forgetting = forgetsAfter(300, ALL)();
      return {
        ...forgetting,
        rememberRollback(order) {
          correct.rememberRollback.call(this, order);
          setTimeout(
            () => this.rolledBack.delete(this.keyOf(order.providerId, order.originalTransactionId ?? '')),
            300,
          );
        },
      };
    },
    failsCases: ['reversal-remembered', 'tombstone-remembered', 'declined-remembered'],
    options: ONE_SECOND,
  },
  {
    bug: 'checks the funds of a repeated BET',
    change: forgets(function (order, known) {
      return order.kind === 'BET' && known.order.amountMinor > this.fundsOf(order);
    }),
    failsCases: ['bet-repeated-without-funds', 'bet-at-once-last-money'],
  },
  {
    bug: 'judges a declined BET again',
    change: forgets((_, { status }) => status === 'DECLINED'),
    failsCases: ['declined-repeated', 'declined-remembered'],
  },
  {
    bug: 'does not remember transactions of 0',
    change: forgets((_, { order }) => order.amountMinor === 0),
    failsCases: ['bet-zero-repeated'],
  },
  {
    bug: 'compares the amount of a repetition',
    change: compares('amountMinor'),
    failsCases: [
      'bet-repeated-another-amount',
      'win-repeated-another-amount',
      'adjustment-repeated-another-amount',
    ],
  },
  {
    bug: 'compares the round of a repetition',
    change: compares('roundId'),
    failsCases: ['bet-repeated-another-round', 'win-repeated-another-round'],
  },
  {
    bug: 'compares the game of a repetition',
    change: compares('gameId'),
    failsCases: ['bet-repeated-another-game'],
  },
  {
    bug: 'compares the kind of a repetition',
    change: compares('kind'),
    failsCases: [
      'win-with-id-of-bet',
      'bet-with-id-of-win',
      'rollback-with-id-of-bet',
      'bet-with-id-of-rollback',
    ],
  },
  {
    bug: 'compares the winKind of a repetition',
    change: compares('winKind'),
    failsCases: ['win-repeated-another-kind'],
  },
  {
    bug: 'compares the target of a repetition',
    change: compares('originalTransactionId'),
    failsCases: ['rollback-repeated-another-target'],
  },
  {
    bug: 'compares the player of a repetition',
    change: compares('playerRef'),
    failsCases: ['bet-repeated-another-player', 'win-repeated-another-player'],
  },
  {
    bug: 'compares the currency of a repetition',
    change: compares('currency'),
    failsCases: ['currency-known-id'],
  },
  {
    bug: 'books a known BET in an account of any currency',
    change: () => ({ ...compares('currency')(), accountOf: (playerRef) => playerRef }),
    failsCases: ['bet-repeated-another-currency'],
  },
  {
    bug: 'answers 409 to a repetition',
    change: () => ({
      answer(order, booking, isRepeated, request) {
        return isRepeated
          ? { status: 409, body: '' }
          : correct.answer.call(this, order, booking, isRepeated, request);
      },
    }),
    failsCases: ['bet-repeated', 'win-repeated', 'rollback-repeated'],
  },
  {
    bug: 'declines a repetition',
    change: repeats(() => ({ status: 'DECLINED', balance: 0, reason: 'DUPLICATE' })),
    failsCases: ['bet-repeated', 'win-repeated', 'rollback-repeated', 'adjustment-repeated'],
  },
  {
    bug: 'approves a repetition of what it declined',
    change: () => ({
      answer(order, booking, isRepeated, request) {
        return correct.answer.call(
          this,
          order,
          isRepeated ? { ...booking, status: 'APPROVED' } : booking,
          isRepeated,
          request,
        );
      },
    }),
    failsCases: ['declined-repeated', 'rollback-before-bet-repeated'],
  },
  {
    bug: 'answers a repetition without a reason',
    change: () => ({
      answer({ ...order }, booking, isRepeated, request) {
        const { reason, ...rest } = booking;
        return correct.answer.call(
          this,
          order,
          isRepeated ? rest : { ...rest, ...(reason !== undefined && { reason }) },
          isRepeated,
          request,
        );
      },
    }),
    failsCases: ['reason-repeated'],
  },
  {
    bug: 'answers a repetition with the reason DUPLICATE',
    change: () => ({
      answer(order, booking, isRepeated, request) {
        return correct.answer.call(
          this,
          order,
          isRepeated && booking.reason !== undefined ? { ...booking, reason: 'DUPLICATE' } : booking,
          isRepeated,
          request,
        );
      },
    }),
    failsCases: ['reason-repeated'],
  },
  {
    bug: 'declines a repeated BET after its round was closed',
    change: () => {
      const closedRounds = new Set<unknown>();
      return {
        answer(order, booking, isRepeated, request) {
          if (order['roundClosed'] === true) closedRounds.add(order.roundId);
          const isLate = isRepeated && order.kind === 'BET' && closedRounds.has(order.roundId);
          return correct.answer.call(
            this,
            order,
            isLate ? { ...booking, status: 'DECLINED' } : booking,
            isRepeated,
            request,
          );
        },
      };
    },
    failsCases: ['bet-repeated-after-win'],
  },
  {
    bug: 'identifies a transaction by its X-Request-Id',
    change: () => {
      const byRequestId = new Map<unknown, Booking>();
      return {
        find: (_, { headers }) => Promise.resolve(byRequestId.get(headers['x-request-id'])),
        async record(order, verdict, request) {
          const booking = await correct.record.call(this, order, verdict, request);
          byRequestId.set(request.headers['x-request-id'], booking);
          return booking;
        },
      };
    },
    failsCases: ['request-id-repeated', 'bet-repeated'],
  },
  {
    bug: 'takes two calls with one X-Request-Id for one',
    change: () => {
      const byRequestId = new Map<unknown, Booking>();
      return {
        async find(order, request) {
          return byRequestId.get(request.headers['x-request-id']) ?? correct.find.call(this, order, request);
        },
        async record(order, verdict, request) {
          const booking = await correct.record.call(this, order, verdict, request);
          byRequestId.set(request.headers['x-request-id'], booking);
          return booking;
        },
      };
    },
    failsCases: ['request-id-repeated'],
  },
  {
    bug: 'fails at an X-Request-Id of more than 64 characters',
    change: () => ({
      async book(order, request) {
        const isLong = String(request.headers['x-request-id']).length > 64;
        return isLong ? { status: 500, body: '' } : correct.book.call(this, order, request);
      },
    }),
    failsCases: ['request-id-longest'],
  },
  {
    bug: 'remembers transactions in each process',
    change: () => {
      const known = new WeakMap<object, Set<string>>();
      return {
        async find(order, request) {
          const keys = known.get(request.socket) ?? new Set();
          known.set(request.socket, keys);
          const isKnown = keys.has(this.keyOfOrder(order));
          keys.add(this.keyOfOrder(order));
          return isKnown ? correct.find.call(this, order, request) : undefined;
        },
        isReversed: () => false,
      };
    },
    failsCases: ['repeated-on-new-connections'],
  },
  {
    bug: 'never finishes a call whose connection broke',
    change: () => ({
      async book(order, request) {
        const isNew = !this.bookings.has(this.keyOfOrder(order)) && order.kind === 'BET';
        await delay(80);
        // The call keeps its locks.
        if (isNew && isBroken(request)) await new Promise(() => undefined);
        return correct.book.call(this, order, request);
      },
    }),
    failsCases: ['bet-cut-off'],
    options: ['--timeout-ms', '1000', '--slow-ms', '200'],
  },
  {
    bug: 'forgets a booking whose connection broke',
    change: () => ({
      async answer(order, booking, isRepeated, request) {
        await delay(80);
        if (!isRepeated && isBroken(request)) this.bookings.delete(this.keyOfOrder(order));
        return correct.answer.call(this, order, booking, isRepeated, request);
      },
    }),
    failsCases: ['bet-cut-off'],
    options: ['--slow-ms', '200'],
  },
];
