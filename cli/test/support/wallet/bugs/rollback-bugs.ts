import {
  approved,
  type Booking,
  type Change,
  correct,
  declined,
  type Order,
  type ReferenceWallet,
  type Verdict,
} from '../reference-wallet.js';
import type { WalletBug } from '../wallet-bug.js';

type Rule = (this: ReferenceWallet, order: Order, target: Booking | undefined) => Verdict | undefined;

/** A wallet that judges ROLLBACKs otherwise where `verdict` gives one. */
const rollbacks = (verdict: Rule) => (): Change => ({
  judgeRollback(order) {
    return verdict.call(this, order, this.targetOf(order)) ?? correct.judgeRollback.call(this, order);
  },
});

const tombstones = (isTombstone: (this: ReferenceWallet, order: Order) => boolean) => (): Change => ({
  isTombstone,
});

/** A wallet that answers a ROLLBACK otherwise if it does not know the BET. */
const answersUnknown = (status: number, isAnswered: (isRepeated: boolean) => boolean) => (): Change => ({
  async book(order, request) {
    const isUnknown = order.kind === 'ROLLBACK' && !this.targetOf(order);
    const isRepeated = this.bookings.has(this.keyOfOrder(order));
    return isUnknown && isAnswered(isRepeated)
      ? { status, body: '' }
      : correct.book.call(this, order, request);
  },
});

/** The ROLLBACKs that name this transaction. */
function namedBy(wallet: ReferenceWallet, { providerId, transactionId }: Order): Order[] {
  return [...wallet.bookings.values()]
    .map(({ order }) => order)
    .filter(
      (order) =>
        order.kind === 'ROLLBACK' &&
        order.providerId === providerId &&
        order.originalTransactionId === transactionId,
    );
}

export const ROLLBACK_BUGS: WalletBug[] = [
  {
    bug: 'rolls back nothing',
    change: rollbacks(() => approved(0)),
    failsCases: ['rollback-reverses', 'rollback-repeated', 'different-rollbacks-at-once'],
  },
  {
    bug: 'declines every ROLLBACK',
    change: rollbacks(() => declined('NOT_ROLLBACKABLE')),
    failsCases: ['rollback-reverses', 'rollback-unknown'],
  },
  {
    bug: 'returns the amount of the ROLLBACK',
    change: () => ({ returned: ({ amountMinor }) => amountMinor }),
    failsCases: ['rollback-original-amount', 'rollback-other-amount'],
  },
  {
    bug: 'returns the amount of the ROLLBACK unless it is 0',
    change: () => ({ returned: ({ amountMinor }, { movedMinor }) => amountMinor || -movedMinor }),
    failsCases: ['rollback-other-amount'],
  },
  {
    bug: 'returns a BET again for each call',
    change: () => ({
      isReversed: () => false,
      async find(order, request) {
        return order.kind === 'ROLLBACK' ? undefined : correct.find.call(this, order, request);
      },
    }),
    failsCases: ['rollback-repeated', 'rollback-recognised'],
  },
  {
    bug: 'returns a BET for each id of a ROLLBACK',
    change: () => ({ isReversed: () => false }),
    failsCases: ['rollback-another-id', 'rollbacks-at-once', 'reversal-remembered'],
  },
  {
    bug: 'declines a second ROLLBACK of a BET',
    change: rollbacks(function (order, target) {
      return target?.order.kind === 'BET' && this.isReversed(order)
        ? declined('ALREADY_ROLLED_BACK')
        : undefined;
    }),
    failsCases: ['rollback-another-id'],
  },
  {
    bug: 'declines a second ROLLBACK of a BET that it never booked',
    change: rollbacks(function (order, target) {
      return !target && this.isReversed(order) ? declined('ALREADY_ROLLED_BACK') : undefined;
    }),
    failsCases: ['rollback-unknown-another-id'],
  },
  {
    bug: 'returns all BETs of the round',
    change: () => ({
      returned(rollback) {
        const ofRound = [...this.bookings.values()].filter(
          ({ order }) => order.kind === 'BET' && order.roundId === rollback.roundId,
        );
        return ofRound.reduce((sum, { movedMinor }) => sum - movedMinor, 0);
      },
    }),
    failsCases: ['rollback-leaves-others'],
  },
  {
    bug: 'returns one BET of a round',
    change: rollbacks(function ({ roundId }, target) {
      const isDone = [...this.bookings.values()].some(
        ({ order, movedMinor }) => order.kind === 'ROLLBACK' && order.roundId === roundId && movedMinor > 0,
      );
      return target && isDone ? approved(0) : undefined;
    }),
    failsCases: ['rollback-each-of-a-round'],
  },
  {
    bug: 'returns only the latest BET',
    change: rollbacks(function (_, target) {
      const bets = [...this.bookings.values()].filter(({ order }) => order.kind === 'BET');
      return target && target !== bets.at(-1) ? declined('TOO_LATE') : undefined;
    }),
    failsCases: ['rollback-leaves-others', 'rollback-after-other-bets'],
  },
  {
    bug: 'declines the ROLLBACK of a DECLINED BET',
    change: rollbacks((_, target) =>
      target?.status === 'DECLINED' ? declined('NOTHING_BOOKED') : undefined,
    ),
    failsCases: ['rollback-of-declined', 'rollback-after-tombstone-bet'],
  },
  {
    bug: 'returns the amount of a DECLINED BET',
    change: () => ({ returned: (_, { order }) => order.amountMinor }),
    failsCases: ['rollback-of-declined'],
  },
  {
    bug: 'judges a DECLINED BET again after its ROLLBACK',
    change: () => ({
      isTombstone: () => false,
      rememberRollback(order) {
        correct.rememberRollback.call(this, order);
        if (this.targetOf(order)?.status === 'DECLINED')
          this.bookings.delete(this.keyOf(order.providerId, order.originalTransactionId ?? ''));
      },
    }),
    failsCases: ['rollback-of-declined-then-bet'],
  },
  {
    bug: 'fails at the ROLLBACK of a BET of 0',
    change: rollbacks((_, target) =>
      target?.order.amountMinor === 0 ? declined('NOTHING_BOOKED') : undefined,
    ),
    failsCases: ['rollback-of-zero'],
  },
  {
    bug: 'returns nothing to a player without money',
    change: rollbacks(function (order, target) {
      return target && this.fundsOf(order) <= 0 ? declined('PLAYER_BLOCKED') : undefined;
    }),
    failsCases: ['rollback-without-money'],
  },
  {
    bug: 'books a BET again after its ROLLBACK',
    change: () => ({
      isTombstone: () => false,
      rememberRollback(order) {
        correct.rememberRollback.call(this, order);
        this.bookings.delete(this.keyOf(order.providerId, order.originalTransactionId ?? ''));
      },
    }),
    failsCases: ['rollback-then-bet-again', 'reversal-remembered'],
  },
  {
    bug: 'looks for a BET at every provider',
    change: () => ({
      targetOf({ originalTransactionId }) {
        return [...this.bookings.values()].find(({ order }) => order.transactionId === originalTransactionId);
      },
    }),
    failsCases: ['rollback-other-provider'],
  },
  {
    bug: 'looks for a BET without regard to upper and lower case',
    change: () => ({
      targetOf({ providerId, originalTransactionId = '' }) {
        return [...this.bookings.values()].find(
          ({ order }) =>
            order.providerId === providerId &&
            order.transactionId.toLowerCase() === originalTransactionId.toLowerCase(),
        );
      },
    }),
    failsCases: ['rollback-other-case'],
  },
  {
    bug: 'looks for a BET by the first 64 characters of its id',
    change: () => ({
      targetOf({ providerId, originalTransactionId = '' }) {
        return [...this.bookings.values()].find(
          ({ order }) =>
            order.providerId === providerId &&
            order.transactionId.slice(0, 64) === originalTransactionId.slice(0, 64),
        );
      },
    }),
    failsCases: ['rollback-longest-ids'],
  },
  {
    bug: 'returns nothing after the round was closed',
    change: rollbacks((order) => (order['roundClosed'] === true ? declined('ROUND_CLOSED') : undefined)),
    failsCases: ['rollback-after-round-closed'],
  },
  {
    bug: 'returns nothing in a round with a WIN of any kind',
    change: rollbacks(function ({ roundId }, target) {
      const hasWin = [...this.bookings.values()].some(
        ({ order }) => order.kind === 'WIN' && order.roundId === roundId,
      );
      return target?.order.kind === 'BET' && hasWin ? declined('ROUND_ALREADY_SETTLED') : undefined;
    }),
    failsCases: ['rollback-after-promotion'],
  },
  {
    bug: 'takes the WINs of a round back with its BET',
    change: () => ({
      returned(rollback, { movedMinor }) {
        const wins = [...this.bookings.values()].filter(
          ({ order }) => order.kind === 'WIN' && order.roundId === rollback.roundId,
        );
        return wins.reduce((sum, win) => sum - win.movedMinor, -movedMinor);
      },
    }),
    failsCases: ['rollback-after-promotion'],
  },
  {
    bug: 'takes a WIN back that a ROLLBACK names',
    change: rollbacks((_, target) =>
      target?.order.kind === 'WIN' ? approved(-target.movedMinor) : undefined,
    ),
    failsCases: ['rollback-of-win'],
  },
  {
    bug: 'pays a WIN again that a ROLLBACK names',
    change: rollbacks((_, target) =>
      target?.order.kind === 'WIN' ? approved(target.movedMinor) : undefined,
    ),
    failsCases: ['rollback-of-win'],
  },
  {
    bug: 'takes the money of a ROLLBACK back that a ROLLBACK names',
    change: rollbacks((_, target) =>
      target?.order.kind === 'ROLLBACK' ? approved(-target.movedMinor) : undefined,
    ),
    failsCases: ['rollback-of-rollback'],
  },
  {
    bug: 'returns a BET to the player of the ROLLBACK',
    change: rollbacks((order, target) =>
      target?.order.kind === 'BET' && target.order.playerRef !== order.playerRef
        ? approved(-target.movedMinor)
        : undefined,
    ),
    failsCases: ['rollback-to-other-player'],
  },
  {
    bug: 'refuses the ids of the platform',
    change: () => ({
      defectOf(body) {
        return String(body['transactionId']).startsWith('croupier-')
          ? 'transactionId'
          : correct.defectOf.call(this, body);
      },
    }),
    failsCases: ['rollback-by-platform'],
  },
  {
    bug: 'credits the ROLLBACK of a BET that it never booked',
    change: () => ({ judgeRollbackOfNothing: ({ amountMinor }) => approved(amountMinor) }),
    failsCases: ['rollback-unknown', 'rollback-before-bet'],
  },
  {
    bug: 'declines the ROLLBACK of a BET that it never booked',
    change: () => ({ judgeRollbackOfNothing: () => declined('UNKNOWN_TRANSACTION') }),
    failsCases: ['rollback-unknown', 'tombstones-at-once'],
  },
  {
    bug: 'answers 404 to the ROLLBACK of a BET that it never booked',
    change: answersUnknown(404, () => true),
    failsCases: ['rollback-unknown', 'rollback-unknown-zero', 'rollback-unknown-larger'],
  },
  {
    bug: 'answers 409 to the repeated ROLLBACK of a BET that it never booked',
    change: answersUnknown(409, (isRepeated) => isRepeated),
    failsCases: ['rollback-unknown-repeated'],
  },
  {
    bug: 'declines the ROLLBACK of a BET that it never booked if the amount is 0',
    change: () => ({
      judgeRollbackOfNothing: ({ amountMinor }) =>
        amountMinor === 0 ? declined('INVALID_AMOUNT') : approved(0),
    }),
    failsCases: ['rollback-unknown-zero'],
  },
  {
    bug: 'declines the ROLLBACK of more than the balance',
    change: () => ({
      judgeRollbackOfNothing(order) {
        return order.amountMinor > this.fundsOf(order) ? declined('INVALID_AMOUNT') : approved(0);
      },
    }),
    failsCases: ['rollback-unknown-larger'],
  },
  {
    bug: 'leaves no tombstone',
    change: tombstones(() => false),
    failsCases: ['rollback-before-bet', 'rollback-before-bet-repeated', 'tombstone-remembered'],
  },
  {
    bug: 'leaves no tombstone for a ROLLBACK of 0',
    change: tombstones(function (order) {
      return namedBy(this, order).some(({ amountMinor }) => amountMinor > 0);
    }),
    failsCases: ['rollback-unknown-zero', 'tombstone-other-fields'],
  },
  {
    bug: 'forgets a tombstone with the BET that it declined',
    change: () => ({
      isTombstone(order) {
        return this.rolledBack.delete(this.keyOfOrder(order));
      },
      remember(booking) {
        if (booking.reason !== 'TRANSACTION_ROLLED_BACK') correct.remember.call(this, booking);
      },
    }),
    failsCases: ['rollback-before-bet-repeated'],
  },
  {
    bug: 'shares tombstones between providers',
    change: tombstones(function ({ transactionId }) {
      return [...this.rolledBack].some((key) => (JSON.parse(key) as string[])[1] === transactionId);
    }),
    failsCases: ['tombstone-other-provider'],
  },
  {
    bug: 'shares a tombstone between the BETs of a round',
    change: tombstones(function ({ roundId, kind }) {
      return (
        kind === 'BET' &&
        [...this.bookings.values()].some(
          ({ order }) => order.kind === 'ROLLBACK' && order.roundId === roundId && !this.targetOf(order),
        )
      );
    }),
    failsCases: ['tombstone-one-bet'],
  },
  {
    bug: 'leaves a tombstone for BETs of the same amount',
    change: tombstones(function (order) {
      return namedBy(this, order).some(({ amountMinor }) => amountMinor === order.amountMinor);
    }),
    failsCases: ['tombstone-other-fields', 'rollback-unknown-zero'],
  },
  {
    bug: 'leaves a tombstone for the round and game of the ROLLBACK',
    change: tombstones(function (order) {
      return namedBy(this, order).some(({ roundId }) => roundId === order.roundId);
    }),
    failsCases: ['tombstone-other-fields'],
  },
  {
    bug: 'leaves a tombstone for the player of the ROLLBACK',
    change: tombstones(function (order) {
      return namedBy(this, order).some(({ playerRef }) => playerRef === order.playerRef);
    }),
    failsCases: ['rollback-unknown-player'],
  },
  {
    bug: 'leaves tombstones for ids of up to 64 characters',
    change: tombstones(function (order) {
      return order.transactionId.length <= 64 && correct.isTombstone.call(this, order);
    }),
    failsCases: ['tombstone-longest-id'],
  },
  {
    bug: 'cuts the ids of tombstones at 64 characters',
    change: tombstones(function (order) {
      return [...this.rolledBack].some(
        (key) =>
          (JSON.parse(key) as string[])[1]?.slice(0, 64) === order.transactionId.slice(0, 64) &&
          !this.bookings.has(key),
      );
    }),
    failsCases: ['tombstone-longest-id'],
  },
  {
    bug: 'leaves no tombstone for an id with punctuation',
    change: tombstones(function (order) {
      return !order.transactionId.includes('"') && correct.isTombstone.call(this, order);
    }),
    failsCases: ['tombstone-punctuation'],
  },
  {
    bug: 'returns the amount of a BET that a tombstone declined',
    change: () => ({
      returned: (_, { movedMinor, order, reason }) =>
        reason === 'TRANSACTION_ROLLED_BACK' ? order.amountMinor : -movedMinor,
      isReversed() {
        return false;
      },
    }),
    failsCases: ['rollback-after-tombstone-bet'],
  },
];
