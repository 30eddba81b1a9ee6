import { type Change, correct, declined } from '../reference-wallet.js';
import type { WalletBug } from '../wallet-bug.js';

/** A wallet with another idea of what identifies a transaction. */
const keys = (keyOf: (providerId: string, transactionId: string) => string) => (): Change => ({ keyOf });

/** A wallet that fails or refuses if a field is longer than it expected. */
const shorter = (status: number, field: string, most: number) => (): Change => ({
  book(order, request) {
    const value = order[field];
    return typeof value === 'string' && value.length > most
      ? Promise.resolve({ status, body: '' })
      : correct.book.call(this, order, request);
  },
});

const refusing = (field: string, pattern: RegExp) => (): Change => ({
  defectOf(body) {
    const value = body[field];
    return typeof value === 'string' && pattern.test(value) ? field : correct.defectOf.call(this, body);
  },
});

export const IDENTIFIER_BUGS: WalletBug[] = [
  {
    bug: 'identifies a transaction by its transactionId alone',
    change: keys((_, transactionId) => transactionId),
    failsCases: [
      'same-id-other-provider',
      'rollback-other-provider',
      'adjustment-id-of-a-bet',
      'tombstone-other-provider',
    ],
  },
  ...['', '-', '_', '.'].map((joint): WalletBug => ({
    bug: `joins providerId and transactionId with "${joint}"`,
    change: keys((providerId, transactionId) => providerId + joint + transactionId),
    failsCases: ['ids-joined'],
  })),
  {
    bug: 'compares transactionIds without regard to upper and lower case',
    change: keys((providerId, transactionId) => `${providerId} ${transactionId.toLowerCase()}`),
    failsCases: ['ids-case-sensitive', 'rollback-other-case'],
  },
  {
    bug: 'compares providerIds without regard to upper and lower case',
    change: keys((providerId, transactionId) => `${providerId.toLowerCase()} ${transactionId}`),
    failsCases: ['provider-case-sensitive'],
  },
  ...[36, 64, 100, 127].map((length): WalletBug => ({
    bug: `cuts transactionIds at ${length} characters`,
    change: keys((providerId, transactionId) => `${providerId} ${transactionId.slice(0, length)}`),
    failsCases: ['ids-longest', 'rollback-longest-ids', 'tombstone-longest-id'],
  })),
  {
    bug: 'cuts providerIds at 32 characters',
    change: keys((providerId, transactionId) => `${providerId.slice(0, 32)} ${transactionId}`),
    failsCases: ['provider-longest'],
  },
  {
    bug: 'reads transactionIds as numbers',
    change: keys(
      (providerId, transactionId) =>
        `${providerId} ${Number.isNaN(Number(transactionId)) ? transactionId : Number(transactionId)}`,
    ),
    failsCases: ['ids-numeric'],
  },
  {
    bug: 'takes transactionIds for patterns',
    change: () => ({
      find(order) {
        const pattern = new RegExp(
          `^${order.transactionId
            .replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
            .replaceAll('_', '.')
            .replaceAll('%', '.*')}$`,
          's',
        );
        return Promise.resolve(
          [...this.bookings.values()].find(
            (booking) =>
              booking.order.providerId === order.providerId && pattern.test(booking.order.transactionId),
          ),
        );
      },
    }),
    failsCases: ['ids-wildcards'],
  },
  {
    bug: 'looks transactionIds up among the properties of an object',
    change: () => ({
      find(order, request) {
        const object: Record<string, unknown> = {};
        return object[order.transactionId] === undefined
          ? correct.find.call(this, order, request)
          : Promise.resolve({ ...declined('DUPLICATE'), order, reference: 'x' });
      },
    }),
    failsCases: ['ids-meaningful'],
  },
  {
    bug: 'takes null and undefined for missing ids',
    change: refusing('transactionId', /^(null|undefined)$/),
    failsCases: ['ids-meaningful'],
  },
  {
    bug: 'accepts only letters, digits and hyphens in transactionIds',
    change: refusing('transactionId', /[^\w-]/),
    failsCases: ['ids-punctuation', 'echo-punctuation'],
  },
  {
    bug: 'accepts only letters, digits and hyphens in roundIds',
    change: refusing('roundId', /[^\w-]/),
    failsCases: ['fields-punctuation'],
  },
  {
    bug: 'accepts only letters, digits and hyphens in promotionRefs',
    change: refusing('promotionRef', /[^\w-]/),
    failsCases: ['fields-punctuation'],
  },
  {
    bug: 'accepts no quotation marks in originalTransactionIds',
    change: refusing('originalTransactionId', /['"]/),
    failsCases: ['tombstone-punctuation'],
  },
  {
    bug: 'fails at a transactionId of more than 64 characters',
    change: shorter(500, 'transactionId', 64),
    failsCases: ['fields-of-65', 'fields-of-101', 'fields-of-128', 'ids-longest'],
  },
  {
    bug: 'fails at a transactionId of more than 100 characters',
    change: shorter(500, 'transactionId', 100),
    failsCases: ['fields-of-101', 'fields-of-128'],
  },
  {
    bug: 'fails at a transactionId of 128 characters',
    change: shorter(500, 'transactionId', 127),
    failsCases: ['fields-of-128', 'echo-longest', 'win-longest-fields'],
  },
  {
    bug: 'refuses a roundId of more than 64 characters',
    change: shorter(400, 'roundId', 64),
    failsCases: ['fields-of-65', 'win-longest-fields'],
  },
  {
    bug: 'fails at a gameId of more than 64 characters',
    change: shorter(500, 'gameId', 64),
    failsCases: ['fields-of-65', 'win-longest-fields'],
  },
  {
    bug: 'fails at a promotionRef of more than 64 characters',
    change: shorter(500, 'promotionRef', 64),
    failsCases: ['fields-of-65', 'win-longest-fields'],
  },
  {
    bug: 'fails at an originalTransactionId of more than 64 characters',
    change: shorter(500, 'originalTransactionId', 64),
    failsCases: ['fields-of-65', 'rollback-longest-ids', 'tombstone-longest-id'],
  },
  {
    bug: 'fails at a playerRef of more than 64 characters',
    change: shorter(500, 'playerRef', 64),
    failsCases: ['longest-player'],
  },
  {
    bug: 'fails at a providerId of more than 36 characters',
    change: shorter(500, 'providerId', 36),
    failsCases: ['provider-longest'],
  },
  {
    bug: 'fails at a freeSpinsRef of more than 255 characters',
    change: shorter(500, 'freeSpinsRef', 255),
    failsCases: ['win-free-spins-any-script', 'win-longest-fields'],
  },
  {
    bug: 'accepts only ASCII in a freeSpinsRef',
    change: refusing('freeSpinsRef', /[^ -~]/),
    failsCases: ['win-free-spins-any-script'],
  },
  { bug: 'takes at most 1 KiB', fault: 'takes at most 1 KiB', failsCases: ['win-free-spins-any-script'] },
];
