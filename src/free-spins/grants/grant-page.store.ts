import type { ListQuery } from '../../api/lists/page.js';
import { compareRow, hidden, type Row, rowByRow } from '../../database/planner.js';
import { selectList } from '../../database/select-list.js';
import { named } from '../../database/statement.js';
import type { UnnamedStatement } from '../../database/time-window.js';
import type { AdminGrantQuery } from '../free-spins.request.js';
import { Grant } from './grant.entity.js';

/** A filter of grants; an absent field restricts nothing. */
export type GrantFilter = Omit<AdminGrantQuery, keyof ListQuery>;

/** The column of each filter, the most selective first. Each has an index that ends with the number. */
const COLUMN_OF = {
  batchId: 'g.batch_id',
  playerRef: 'g.player_ref',
  operatorId: 'g.operator_id',
  gameId: 'g.game_id',
  providerId: 'g.provider_id',
  state: 'g.state',
} as const;
const FILTERS = Object.keys(COLUMN_OF) as (keyof typeof COLUMN_OF)[];

/**
 * Grants are numbered nearly in the order of their creation: a grant with a lower number is created at most this many
 * minutes after one with a higher number. The bound covers the longest statement that records grants, and corrections
 * of the database's clock.
 */
const ORDER_DIFFERS_MINUTES = 10;
/** No grant has this number, which is the highest bigint. */
const HIGHEST_NUMBER = '9223372036854775807';

/** Selects a number: the grants with this or a lower one are older than `from`. */
const NUMBER_BEFORE_FROM = `
  coalesce((SELECT grant_no FROM free_spin_grants WHERE created_at < :earliest::timestamptz
             ORDER BY created_at DESC, grant_no DESC LIMIT 1), 0)`;

/** Selects a number: the grants with this or a higher one are not older than `to`. */
const NUMBER_AFTER_TO = `
  coalesce((SELECT grant_no FROM free_spin_grants WHERE created_at >= :latest::timestamptz
             ORDER BY created_at, grant_no LIMIT 1), ${HIGHEST_NUMBER})`;

/**
 * One page, newest first, read along the index of one filter, which leads the order: see `within` in
 * database/time-ordered.ts. If another filter is rare, the planner may read all its grants by its own index.
 *
 * The index is ordered by number, so a filter by time alone would read all newer grants first. Therefore the range of
 * time is also translated to a range of numbers.
 */
export function grantPage(
  { from, to, ...filter }: GrantFilter,
  before: number | string = HIGHEST_NUMBER,
  limit: number,
): UnnamedStatement {
  const [leader, ...others] = FILTERS.filter((field) => filter[field] !== undefined);
  const leaders =
    leader === undefined
      ? {}
      : { [COLUMN_OF[leader]]: hidden(`:${leader}`, leader === 'batchId' ? 'uuid' : 'text') };
  const place = (number: string): Row => ({ ...leaders, 'g.grant_no': number });
  const end = to === undefined ? ':before::bigint' : `least(:before::bigint, ${NUMBER_AFTER_TO})`;
  const tested = [
    ...(from === undefined ? [] : ['g.created_at >= :from::timestamptz']),
    ...(to === undefined ? [] : ['g.created_at < :to::timestamptz']),
  ];
  const conditions = [
    compareRow(place(end), '<'),
    compareRow(place(from === undefined ? '0' : NUMBER_BEFORE_FROM), '>'),
    // The condition of the index of batches.
    ...(leader === 'batchId' ? ['g.batch_id IS NOT NULL'] : []),
    ...others.map((field) => `${COLUMN_OF[field]} = :${field}`),
    ...(tested.length === 0 ? [] : [rowByRow(tested.join(' AND '))]),
  ];
  const order = Object.keys(place(end)).map((column) => `${column} DESC`);
  const text = `SELECT ${selectList(Grant, 'g')} FROM free_spin_grants g WHERE ${conditions.join(' AND ')}
    ORDER BY ${order.join(', ')} LIMIT :limit`;
  const times = {
    from: from && new Date(from),
    to: to && new Date(to),
    earliest: from && minutesLater(new Date(from), -ORDER_DIFFERS_MINUTES),
    latest: to && minutesLater(new Date(to), ORDER_DIFFERS_MINUTES),
  };
  return { statement: named('', text), values: { ...filter, ...times, before, limit } };
}

function minutesLater(instant: Date, minutes: number): Date {
  return new Date(instant.getTime() + minutes * 60_000);
}
