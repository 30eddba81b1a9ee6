import type { RouteDescription } from '../api/described-route.js';

/* What the documents say about the reads that administrators and operators share. */

export const TRANSACTIONS_ROUTE = {
  summary: 'Search transactions, newest first',
  description:
    '`state=TIMED_OUT` selects transactions whose outcome is unknown; `parked=true` selects those that wait for a ' +
    'person. With `kind`, `winKind`, `gameId`, `amountMinor`, `minAmountMinor`, `maxAmountMinor`, `currency` or ' +
    '`sessionId` a page examines a bounded number of transactions that match the other filters. It may then be short ' +
    'or empty and still have a `nextCursor`.',
  errors: ['INVALID_REQUEST'],
} as const satisfies RouteDescription;

export const ROUNDS_ROUTE = {
  summary: 'Search real-money rounds, newest first',
  description:
    'A round begins with its first BET or, without one, its first WIN. A page examines a bounded number of ' +
    'transactions. It may be short or empty and still have a `nextCursor`.',
  errors: ['INVALID_REQUEST'],
} as const satisfies RouteDescription;

export const SESSION_ROUTE = {
  summary: 'Read a session with its rounds and transactions',
  description: '`limit` and `cursor` page through the transactions, newest first.',
  errors: ['INVALID_REQUEST', 'NOT_FOUND'],
} as const satisfies RouteDescription;
