import {
  approved,
  type Change,
  correct,
  declined,
  type Order,
  type ReferenceWallet,
  type Verdict,
} from '../reference-wallet.js';
import type { WalletBug } from '../wallet-bug.js';

type Rule = (this: ReferenceWallet, order: Order) => Verdict | undefined;

/** A wallet that judges BETs otherwise where `verdict` gives one. */
const bets = (verdict: Rule) => (): Change => ({
  judgeBet(order) {
    return verdict.call(this, order) ?? correct.judgeBet.call(this, order);
  },
});

const wins = (verdict: Rule) => (): Change => ({
  judgeWin(order) {
    return verdict.call(this, order) ?? correct.judgeWin.call(this, order);
  },
});

const adjustments = (verdict: Rule) => (): Change => ({
  judgeAdjustment(order) {
    return verdict.call(this, order) ?? correct.judgeAdjustment.call(this, order);
  },
});

/** A wallet that declines a transaction if something of it, such as its round, was seen in another one before. */
const onceEach =
  (kind: string, seenIn: readonly string[], nameOf: (order: Order) => unknown) => (): Change => {
    const seen = new Set<unknown>();
    return {
      async judge(order, request) {
        const name = nameOf(order);
        const isDeclined = order.kind === kind && name !== undefined && seen.has(name);
        if (seenIn.includes(order.kind) && name !== undefined) seen.add(name);
        return isDeclined ? declined('DUPLICATE') : correct.judge.call(this, order, request);
      },
    };
  };

const closed = (order: Order) => (order['roundClosed'] === true ? order.roundId : undefined);

/** A wallet that declines transactions of a round that was closed, as it understands a round. */
const closesRounds = (kind: string, nameOf: (order: Order) => string) => (): Change => {
  const closedRounds = new Set<string>();
  return {
    async judge(order, request) {
      const isDeclined = order.kind === kind && closedRounds.has(nameOf(order));
      if (closed(order) !== undefined) closedRounds.add(nameOf(order));
      return isDeclined ? declined('ROUND_CLOSED') : correct.judge.call(this, order, request);
    },
  };
};

const inRound = ({ providerId, playerRef, roundId }: Order) => [providerId, playerRef, roundId].join(' ');

export const BOOKING_BUGS: WalletBug[] = [
  {
    bug: 'keeps one unit',
    change: bets(function (order) {
      return this.fundsOf(order) <= order.amountMinor && order.amountMinor > 0
        ? declined('INSUFFICIENT_FUNDS')
        : undefined;
    }),
    failsCases: ['bet-whole-balance'],
  },
  {
    bug: 'gives credit',
    change: bets(({ amountMinor }) => approved(-amountMinor)),
    failsCases: [
      'bet-insufficient-funds',
      'bet-without-money',
      'bets-beyond-funds-at-once',
      'first-of-each-kind',
    ],
  },
  {
    bug: 'gives credit of one unit',
    change: bets(function (order) {
      return this.fundsOf(order) + 1 >= order.amountMinor ? approved(-order.amountMinor) : undefined;
    }),
    failsCases: ['bet-insufficient-funds', 'bet-without-money'],
  },
  {
    bug: 'takes what is left if it is less than the BET',
    change: bets(function (order) {
      const funds = this.fundsOf(order);
      return funds < order.amountMinor
        ? { ...declined('INSUFFICIENT_FUNDS'), movedMinor: -funds }
        : undefined;
    }),
    failsCases: ['bet-insufficient-funds'],
  },
  {
    bug: 'declines a BET of 0',
    change: bets(({ amountMinor }) => (amountMinor === 0 ? declined('LIMIT_REACHED') : undefined)),
    failsCases: ['bet-zero'],
  },
  {
    bug: 'declines a BET of 0 at a balance of 0',
    change: bets(function (order) {
      return this.fundsOf(order) <= 0 ? declined('INSUFFICIENT_FUNDS') : undefined;
    }),
    failsCases: ['bet-zero-without-money'],
  },
  {
    bug: 'blocks a player after three declined BETs',
    change: () => {
      let declinedBets = 0;
      return {
        judgeBet(order) {
          if (declinedBets >= 3) return declined('PLAYER_BLOCKED');
          const verdict = correct.judgeBet.call(this, order);
          declinedBets = verdict.status === 'DECLINED' ? declinedBets + 1 : 0;
          return verdict;
        },
      };
    },
    failsCases: ['bet-after-declined'],
  },
  {
    bug: 'answers a lack of money with 402',
    change: () => ({
      answer(order, booking, isRepeated, request) {
        return booking.reason === 'INSUFFICIENT_FUNDS'
          ? { status: 402, body: '' }
          : correct.answer.call(this, order, booking, isRepeated, request);
      },
    }),
    failsCases: ['bet-insufficient-funds', 'echo-declined', 'declined-repeated'],
  },
  {
    bug: 'refuses unknown fields',
    change: () => ({
      bodyOf(raw) {
        const body = correct.bodyOf.call(this, raw);
        return body && 'certifyFlag' in body ? undefined : body;
      },
    }),
    failsCases: ['bet-unknown-fields', 'balance-unknown-fields'],
  },
  {
    bug: 'takes one BET in a round',
    change: onceEach('BET', ['BET'], inRound),
    failsCases: ['bet-twice-in-a-round'],
  },
  {
    bug: 'takes one BET of an amount in a round',
    change: onceEach('BET', ['BET'], (order) => `${inRound(order)} ${order.amountMinor}`),
    failsCases: ['bet-twice-in-a-round'],
  },
  {
    bug: 'pays once in a round',
    change: onceEach('WIN', ['WIN'], inRound),
    failsCases: ['win-twice-in-a-round', 'win-after-round-closed'],
  },
  {
    bug: 'takes no BET after a WIN of its round',
    change: onceEach('BET', ['WIN'], inRound),
    failsCases: ['win-before-bet'],
  },
  {
    bug: 'pays nothing after a round was closed',
    change: closesRounds('WIN', inRound),
    failsCases: ['win-after-round-closed', 'win-kind-game'],
  },
  {
    bug: 'takes no BET after a round was closed',
    change: closesRounds('BET', inRound),
    failsCases: ['bet-after-round-closed'],
  },
  {
    bug: 'closes the rounds of all providers',
    change: closesRounds('BET', ({ roundId = '' }) => roundId),
    failsCases: ['round-of-two-providers'],
  },
  {
    bug: 'closes the rounds of all games',
    change: closesRounds('BET', inRound),
    failsCases: ['round-of-two-games'],
  },
  {
    bug: 'identifies a round only by its id',
    change: () => {
      const players = new Map<string, string>();
      return {
        async judge(order, request) {
          const owner = players.get(order.roundId ?? '') ?? order.playerRef;
          if (order.roundId !== undefined) players.set(order.roundId, owner);
          return owner === order.playerRef
            ? correct.judge.call(this, order, request)
            : declined('ROUND_OF_ANOTHER_PLAYER');
        },
      };
    },
    failsCases: ['one-round-of-two-players'],
  },
  {
    bug: 'returns the stake of a BET that closes its round',
    change: bets((order) => (order['roundClosed'] === true ? approved(0) : undefined)),
    failsCases: ['bet-closes-round'],
  },
  {
    bug: 'takes a BET that names another transaction for its ROLLBACK',
    change: () => ({
      orderOf: (body) => ({
        ...(body as Order),
        kind:
          body['kind'] === 'BET' && body['originalTransactionId'] !== undefined
            ? 'ROLLBACK'
            : String(body['kind']),
      }),
    }),
    failsCases: ['bet-names-another'],
  },
  {
    bug: 'reverses the BET that a WIN names',
    change: wins(function (order) {
      const target = this.targetOf(order);
      return target ? approved(order.amountMinor - target.movedMinor) : undefined;
    }),
    failsCases: ['win-names-bet'],
  },
  {
    bug: 'declines a WIN of 0',
    change: wins(({ amountMinor }) => (amountMinor === 0 ? declined('NOTHING_WON') : undefined)),
    failsCases: ['win-zero', 'win-free-spins-zero'],
  },
  { bug: 'books no WIN', change: wins(() => approved(0)), failsCases: ['win-booked', 'mixed-at-once'] },
  {
    bug: 'pays nothing to a player without money',
    change: wins(function (order) {
      return this.fundsOf(order) <= 0 ? declined('PLAYER_BLOCKED') : undefined;
    }),
    failsCases: ['win-without-money'],
  },
  {
    bug: 'declines a WIN without a BET',
    change: wins(function (order) {
      const hasBet = [...this.bookings.values()].some(
        (booking) => booking.order.kind === 'BET' && booking.order.roundId === order.roundId,
      );
      return hasBet ? undefined : declined('NO_BET');
    }),
    failsCases: ['win-free-spins', 'win-jackpot', 'win-promotion', 'win-tournament'],
  },
  {
    bug: 'declines a WIN of free spins in a round whose BET is 0',
    change: wins((order) =>
      order['freeSpinsRef'] !== undefined && order['winKind'] === undefined
        ? declined('NO_STAKE')
        : undefined,
    ),
    failsCases: ['win-free-spins', 'win-free-spins-each'],
  },
  {
    bug: 'pays a batch of free spins once',
    change: onceEach('WIN', ['WIN'], (order) => order['freeSpinsRef']),
    failsCases: ['win-free-spins-each'],
  },
  {
    bug: 'pays a promotion once',
    change: onceEach('WIN', ['WIN'], (order) => order['promotionRef']),
    failsCases: ['win-jackpot', 'win-promotion', 'win-tournament'],
  },
  {
    bug: 'keeps winnings of free spins as a bonus',
    change: wins((order) => (order['freeSpinsRef'] === undefined ? undefined : approved(0))),
    failsCases: ['win-free-spins', 'split-character'],
  },
  {
    bug: 'knows no TOURNAMENT',
    change: wins((order) => (order['winKind'] === 'TOURNAMENT' ? declined('UNKNOWN') : undefined)),
    failsCases: ['win-tournament', 'win-longest-fields'],
  },
  {
    bug: 'pays a PROMOTION in a round without a BET to nobody',
    change: wins((order) => (order['winKind'] === 'PROMOTION' ? approved(0) : undefined)),
    failsCases: ['win-promotion', 'win-kind-game'],
  },
  {
    bug: 'answers a JACKPOT with a status of its own until somebody has confirmed it',
    change: () => ({
      answer(order, booking, isRepeated, request) {
        const reply = correct.answer.call(this, order, booking, isRepeated, request);
        return order['winKind'] === 'JACKPOT' && 'body' in reply
          ? { status: 200, body: { ...(reply.body as object), status: 'PENDING' } }
          : reply;
      },
    }),
    failsCases: ['win-jackpot'],
  },
  {
    bug: 'pays no JACKPOT in a round that was rolled back',
    change: wins(function (order) {
      const isRolledBack = [...this.bookings.values()].some(
        (booking) => booking.order.kind === 'ROLLBACK' && booking.order.roundId === order.roundId,
      );
      return isRolledBack ? declined('ROLLED_BACK') : undefined;
    }),
    failsCases: ['win-prize-after-rollback'],
  },
  {
    bug: 'knows no ADJUSTMENT',
    change: () => ({
      defectOf(body) {
        return body['kind'] === 'ADJUSTMENT' ? 'kind' : correct.defectOf.call(this, body);
      },
    }),
    failsCases: ['adjustment-credit', 'adjustment-debit'],
  },
  {
    bug: 'demands a gameId of an ADJUSTMENT',
    change: () => ({
      defectOf(body) {
        return body['gameId'] === undefined ? 'gameId' : correct.defectOf.call(this, body);
      },
    }),
    failsCases: ['adjustment-credit'],
  },
  {
    bug: 'adjusts only upwards',
    change: adjustments(({ amountMinor }) => (amountMinor < 0 ? declined('NEGATIVE') : undefined)),
    failsCases: ['adjustment-debit'],
  },
  {
    bug: 'credits negative ADJUSTMENTs',
    change: adjustments(({ amountMinor }) => approved(Math.abs(amountMinor))),
    failsCases: ['adjustment-debit'],
  },
  {
    bug: 'takes an ADJUSTMENT for the new balance',
    change: adjustments(function (order) {
      return order.amountMinor > 0 ? approved(order.amountMinor - this.fundsOf(order)) : undefined;
    }),
    failsCases: ['adjustment-credit'],
  },
  {
    bug: 'adjusts no more than leaves one unit',
    change: adjustments(function (order) {
      return this.fundsOf(order) + order.amountMinor <= 0 ? declined('INSUFFICIENT_FUNDS') : undefined;
    }),
    failsCases: ['adjustment-whole-balance'],
  },
  {
    bug: 'adjusts the balance of its first player',
    change: () => ({
      orderOf: (body) => ({
        ...(body as Order),
        playerRef: body['kind'] === 'ADJUSTMENT' ? 'player-1' : String(body['playerRef']),
      }),
    }),
    failsCases: ['adjustment-other-player'],
  },
  {
    bug: 'sets the balance to 0 instead of below',
    change: adjustments(function (order) {
      const funds = this.fundsOf(order);
      return funds + order.amountMinor < 0 ? approved(-funds) : undefined;
    }),
    failsCases: ['negative-balance'],
  },
  {
    bug: 'bets at a negative balance',
    change: bets(function (order) {
      return this.fundsOf(order) < 0 ? approved(-order.amountMinor) : undefined;
    }),
    failsCases: ['negative-balance'],
  },
  {
    bug: 'pays nothing at a negative balance',
    change: wins(function (order) {
      return this.fundsOf(order) < 0 ? declined('PLAYER_BLOCKED') : undefined;
    }),
    failsCases: ['negative-balance'],
  },
  {
    bug: 'rolls back nothing at a negative balance',
    change: () => ({
      judgeRollback(order) {
        return this.fundsOf(order) < 0 ? declined('PLAYER_BLOCKED') : correct.judgeRollback.call(this, order);
      },
    }),
    failsCases: ['negative-balance'],
  },
];
