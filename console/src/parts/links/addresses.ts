/** The console's addresses. The address is the state of a page: filters are in the query, under the API's names. */

const BASE = '/console';
const API = '/v1/admin/';

/** An address below /console: each segment is encoded. */
function below(...segments: readonly string[]): string {
  return [BASE, ...segments.map(encoded)].join('/');
}

/**
 * Browsers resolve the segments `.` and `..`, also encoded ones, and would open another page. No record has such an id:
 * encoded twice, it leads to the page that says so.
 */
function encoded(segment: string): string {
  const once = encodeURIComponent(segment);
  return /^\.{1,2}$/.test(once) ? once.replaceAll('.', '%252E') : once;
}

export const addressOf = {
  overview: `${BASE}/`,
  attentionItem: (id: string) => below('attention', id),
  transaction: (providerId: string, transactionId: string) =>
    below('transactions', providerId, transactionId),
  round: (providerId: string, roundId: string) => below('rounds', providerId, roundId),
  /** The page of a player at one operator: several operators may have the same reference. */
  player: (playerRef: string, operatorId?: string) => withQuery(below('players', playerRef), { operatorId }),
  session: (sessionId: string) => below('sessions', sessionId),
  grant: (requestRef: string) => below('free-spins', requestRef),
  batch: (batchId: string) => below('free-spins', 'batches', batchId),
  approval: (approvalId: string) => below('approvals', approvalId),
  operator: (id: string) => below('operators', id),
  provider: (id: string) => below('providers', id),
  game: (id: string) => below('games', id),
  /** A list with filters, such as `list('transactions', { playerRef })`. */
  list: (page: string, filters: Readonly<Record<string, string>> = {}) =>
    withQuery(`${BASE}/${page}`, filters),
};

/** A path with a query of all values that are not empty. */
export function withQuery(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

/**
 * The page that shows what an `href` of the API leads to; undefined if no page does.
 * @param href such as `/v1/admin/transactions/acme/bet-1`
 */
export function pageOf(href: string): string | undefined {
  if (!href.startsWith(API)) return undefined;
  const { pathname, searchParams } = new URL(href, 'http://console');
  const [page = '', ...rest] = pathname.slice(API.length).split('/');
  const player = searchParams.get('playerRef');
  if (page === 'sessions' && rest.length === 0 && player !== null) return addressOf.player(player);
  if (page === 'callbacks' && rest.length === 1) return [BASE, page, ...rest].join('/');
  if (page === 'reconciliations') return [BASE, 'reconciliation', ...rest].join('/');
  if (!PAGES.has(page)) return undefined;
  return withQuery([BASE, page, ...rest].join('/'), Object.fromEntries(searchParams));
}

/** The first segments that the console and the API share. */
const PAGES = new Set([
  'attention',
  'transactions',
  'rounds',
  'sessions',
  'free-spins',
  'approvals',
  'operators',
  'providers',
  'games',
  'limits',
  'audit',
]);
