import type { Body, Reply } from '../../broken-server.js';
import { type Booking, type Change, correct, type Order, type ReferenceWallet } from '../reference-wallet.js';
import type { WalletBug } from '../wallet-bug.js';

type Rewrite = (
  this: ReferenceWallet,
  answer: Body,
  order: Order,
  booking: Booking,
  isRepeated: boolean,
) => Body;

/** A wallet that writes something else into its answers to transactions. */
const answers = (rewrite: Rewrite) => (): Change => ({
  answer(order, booking, isRepeated, request) {
    const reply = correct.answer.call(this, order, booking, isRepeated, request) as Reply;
    return { ...reply, body: rewrite.call(this, reply.body as Body, order, booking, isRepeated) };
  },
});

/** A wallet that names another transaction in its answers, or none. */
const names = (nameOf: (order: Order, booking: Booking, isRepeated: boolean) => unknown) =>
  answers((answer, order, booking, isRepeated) => ({
    ...answer,
    transactionId: nameOf(order, booking, isRepeated),
  }));

const balances = (rewrite: (answer: Body) => Body) => (): Change => ({
  async answerBalance(body, request) {
    const reply = await correct.answerBalance.call(this, body, request);
    return reply.status === 200 ? { ...reply, body: rewrite(reply.body as Body) } : reply;
  },
});

const reasons = (rewrite: (reason: string) => unknown) =>
  answers((answer) =>
    answer['reason'] === undefined ? answer : { ...answer, reason: rewrite(String(answer['reason'])) },
  );

const references = (referenceOf: (reference: string, isRepeated: boolean) => unknown) => (): Change => ({
  referenceOf: ({ reference }, isRepeated) => referenceOf(reference, isRepeated),
});

const id = ({ transactionId }: Order) => transactionId;
const camel = (reason: string) =>
  reason.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
let made = 0;

export const ANSWER_BUGS: WalletBug[] = [
  {
    bug: 'names no transaction',
    change: names(() => undefined),
    failsCases: ['echo-bet', 'echo-declined', 'echo-adjustment', 'echo-repeated'],
  },
  {
    bug: 'names no WIN',
    change: names((order) => (order.kind === 'WIN' ? undefined : id(order))),
    failsCases: ['echo-win'],
  },
  {
    bug: 'names no ADJUSTMENT',
    change: names((order) => (order.kind === 'ADJUSTMENT' ? undefined : id(order))),
    failsCases: ['echo-adjustment'],
  },
  {
    bug: 'names no declined transaction',
    change: names((order, { status }) => (status === 'DECLINED' ? undefined : id(order))),
    failsCases: ['echo-declined', 'bet-insufficient-funds'],
  },
  {
    bug: 'names no repeated transaction',
    change: names((order, _, isRepeated) => (isRepeated ? undefined : id(order))),
    failsCases: ['echo-repeated', 'bet-repeated'],
  },
  {
    bug: 'names the BET in the answer to its ROLLBACK',
    change: names((order) => order.originalTransactionId ?? id(order)),
    failsCases: ['echo-rollback', 'rollback-unknown'],
  },
  {
    bug: 'names the round in the answer to a WIN',
    change: names((order) => (order.kind === 'WIN' ? order.roundId : id(order))),
    failsCases: ['echo-win'],
  },
  {
    bug: 'names the transaction in lower case',
    change: names((order) => id(order).toLowerCase()),
    failsCases: ['echo-case', 'ids-case-sensitive'],
  },
  {
    bug: 'names the first 64 characters of the transaction',
    change: names((order) => id(order).slice(0, 64)),
    failsCases: ['echo-longest', 'fields-of-65'],
  },
  {
    bug: 'names a numeric transaction as a number',
    change: names((order) => (/^\d+$/.test(id(order)) ? Number(id(order)) : id(order))),
    failsCases: ['ids-numeric'],
  },
  {
    bug: 'escapes the name for HTML',
    change: names((order) => id(order).replaceAll('&', '&amp;').replaceAll('<', '&lt;')),
    failsCases: ['echo-punctuation', 'ids-punctuation'],
  },
  {
    bug: 'escapes the name for an address',
    change: names((order) => encodeURIComponent(id(order))),
    failsCases: ['echo-punctuation', 'ids-wildcards'],
  },
  {
    bug: 'names its own booking',
    change: answers((answer) => ({ ...answer, transactionId: answer['operatorTransactionId'] })),
    failsCases: ['echo-bet'],
  },
  {
    bug: 'names the latest transaction that it received',
    change: () => {
      let latest = '';
      return {
        async book(order, request) {
          latest = order.transactionId;
          await new Promise((resolve) => setTimeout(resolve, 2));
          return correct.book.call(this, order, request);
        },
        echoOf: () => latest,
      };
    },
    failsCases: ['echo-at-once'],
  },
  {
    bug: 'names no player',
    change: balances(({ currency, balance }) => ({ currency, balance })),
    failsCases: ['balance-echo', 'balance-answered'],
  },
  {
    bug: 'names no currency',
    change: balances(({ playerRef, balance }) => ({ playerRef, balance })),
    failsCases: ['balance-echo'],
  },
  {
    bug: 'names the first player',
    change: balances((answer) => ({ ...answer, playerRef: 'player-1' })),
    failsCases: ['balance-echo-other-player', 'balance-echo-at-once'],
  },
  {
    bug: 'names the player in upper case',
    change: balances((answer) => ({ ...answer, playerRef: String(answer['playerRef']).toUpperCase() })),
    failsCases: ['balance-echo'],
  },
  {
    bug: 'names the currency in lower case',
    change: balances((answer) => ({ ...answer, currency: String(answer['currency']).toLowerCase() })),
    failsCases: ['balance-echo'],
  },
  {
    bug: 'exchanges the answers of two calls under way',
    change: () => {
      let waiting: { reply: Reply; release: (reply: Reply) => void } | undefined;
      const exchanged = (reply: Reply) =>
        new Promise<Reply>((resolve) => {
          if (waiting) {
            waiting.release(reply);
            resolve(waiting.reply);
            waiting = undefined;
            return;
          }
          const release = (other: Reply) => {
            clearTimeout(timer);
            resolve(other);
          };
          const timer = setTimeout(() => {
            waiting = undefined;
            resolve(reply);
          }, 20);
          waiting = { reply, release };
        });
      return {
        async serve(path, raw, request) {
          return exchanged(await correct.serve.call(this, path, raw, request));
        },
      };
    },
    failsCases: ['echo-at-once', 'balance-echo-at-once', 'echo-balance-beside-bets'],
  },
  {
    bug: 'answers concurrent BETs with the outcome of the latest',
    change: () => {
      let latest: Booking | undefined;
      return {
        async record(order, verdict, request) {
          latest = await correct.record.call(this, order, verdict, request);
          await new Promise((resolve) => setTimeout(resolve, 5));
          return latest;
        },
        locksOf: () => [],
      };
    },
    failsCases: ['echo-outcomes-at-once'],
  },
  {
    bug: 'spells the status in lower case',
    change: answers((answer) => ({ ...answer, status: String(answer['status']).toLowerCase() })),
    failsCases: ['bet-booked'],
  },
  {
    bug: 'answers OK instead of APPROVED',
    change: answers((answer) => ({ ...answer, status: answer['status'] === 'APPROVED' ? 'OK' : 'DECLINED' })),
    failsCases: ['bet-booked'],
  },
  {
    bug: 'answers REJECTED instead of DECLINED',
    change: answers((answer) => ({
      ...answer,
      status: answer['status'] === 'APPROVED' ? 'APPROVED' : 'REJECTED',
    })),
    failsCases: ['bet-insufficient-funds'],
  },
  { bug: 'answers 201', fault: 'answers 201', failsCases: ['signed-call'] },
  {
    bug: 'spells reasons in lower case',
    change: reasons((reason) => reason.toLowerCase()),
    failsCases: ['reason-funds', 'reason-rolled-back'],
  },
  {
    bug: 'spells reasons in camel case',
    change: reasons(camel),
    failsCases: ['reason-funds', 'reason-rolled-back'],
  },
  {
    bug: 'spells reasons with spaces',
    change: reasons((reason) => reason.replaceAll('_', ' ')),
    failsCases: ['reason-funds', 'reason-rolled-back'],
  },
  {
    bug: 'spells reasons with hyphens',
    change: reasons((reason) => reason.replaceAll('_', '-')),
    failsCases: ['reason-funds', 'reason-rolled-back'],
  },
  {
    bug: 'gives numbers as reasons',
    change: reasons((reason) => reason.length),
    failsCases: ['reason-funds', 'reason-rolled-back', 'reason-unknown-player'],
  },
  {
    bug: 'spells the reason for an unknown player in lower case',
    change: reasons((reason) => (reason === 'PLAYER_UNKNOWN' ? 'player_blocked' : reason)),
    failsCases: ['reason-unknown-player'],
  },
  { bug: 'gives an empty reason', change: reasons(() => ''), failsCases: ['reason-funds'] },
  {
    bug: 'says PLAYER_BLOCKED for a lack of money',
    change: reasons((reason) => (reason === 'INSUFFICIENT_FUNDS' ? 'PLAYER_BLOCKED' : reason)),
    failsCases: ['reason-funds'],
  },
  {
    bug: 'says INSUFFICIENT_FUNDS for a tombstone',
    change: reasons((reason) => (reason === 'TRANSACTION_ROLLED_BACK' ? 'INSUFFICIENT_FUNDS' : reason)),
    failsCases: ['reason-rolled-back'],
  },
  {
    bug: 'says NOT_ROLLBACKABLE for a lack of money',
    change: reasons((reason) => (reason === 'INSUFFICIENT_FUNDS' ? 'NOT_ROLLBACKABLE' : reason)),
    failsCases: ['reason-funds'],
  },
  {
    bug: 'says ROUND_ALREADY_SETTLED, in camel case, for a tombstone',
    change: reasons((reason) => (reason === 'TRANSACTION_ROLLED_BACK' ? 'roundAlreadySettled' : reason)),
    failsCases: ['reason-rolled-back'],
  },
  {
    bug: 'says TRANSACTION_ROLLED_BACK for an unknown player',
    change: reasons((reason) => (reason === 'PLAYER_UNKNOWN' ? 'TRANSACTION_ROLLED_BACK' : reason)),
    failsCases: ['reason-unknown-player'],
  },
  {
    bug: 'gives a number as its reference',
    change: references((reference) => Number(reference.replace(/\D/g, ''))),
    failsCases: ['reference-text'],
  },
  { bug: 'gives null as its reference', change: references(() => null), failsCases: ['reference-text'] },
  { bug: 'gives an empty reference', change: references(() => ''), failsCases: ['reference-text'] },
  {
    bug: 'gives an object as its reference',
    change: references((reference) => ({ reference })),
    failsCases: ['reference-text'],
  },
  {
    bug: 'gives a reference of 201 characters',
    change: references((reference) => reference.padEnd(201, 'x')),
    failsCases: ['reference-text'],
  },
  {
    bug: 'gives another reference each time',
    change: references(() => `booking-${(made += 1)}`),
    failsCases: ['repeated-reference'],
  },
  {
    bug: 'gives no reference for a repetition',
    change: references((reference, isRepeated) => (isRepeated ? undefined : reference)),
    failsCases: ['repeated-reference'],
  },
  {
    bug: 'gives the reference as a number for a repetition',
    change: references((reference, isRepeated) => (isRepeated ? 7 : reference)),
    failsCases: ['repeated-reference'],
  },
];
