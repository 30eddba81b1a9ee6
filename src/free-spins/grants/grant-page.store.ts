import { And, Any, type FindManyOptions, LessThan, Raw } from 'typeorm';
import { rowByRow } from '../../database/planner.js';
import type { ListQuery } from '../../api/lists/page.js';
import type { AdminGrantQuery } from '../free-spins.request.js';
import type { Grant } from './grant.entity.js';

/** A filter of grants; an absent field restricts nothing. */
export type GrantFilter = Omit<AdminGrantQuery, keyof ListQuery>;

/** The filters, the most selective first. Each has an index. */
const FILTERS = ['batchId', 'playerRef', 'operatorId', 'gameId', 'providerId', 'state'] as const;

/**
 * Grants are numbered nearly in the order of their creation: a grant with a lower number is created at most this many
 * minutes after one with a higher number. The bound covers the longest statement that records grants, and corrections
 * of the database's clock.
 */
const ORDER_DIFFERS_MINUTES = 10;
/** No grant has this number, which is the highest bigint. */
const HIGHEST_NUMBER = '9223372036854775807';

/**
 * One page, newest first. The order begins with the column of one filter, which is compared by `Any`, so that the
 * planner uses the index of that column: see `leading` in database/planner.ts.
 *
 * The index is ordered by number, so a filter by time alone would read all newer grants first. Therefore the range of
 * time is also translated to a range of numbers. The CASE around the comparison of times keeps the planner from using
 * the index by time, with which it would read and sort the whole range.
 */
export function grantPage(
  { from, to, ...filter }: GrantFilter,
  before: number | undefined,
  limit: number,
): FindManyOptions<Grant> {
  const created = [
    ...(from === undefined ? [] : [createdWhen('>= :from', { from: new Date(from) })]),
    ...(to === undefined ? [] : [createdWhen('< :to', { to: new Date(to) })]),
  ];
  const numbers = [
    ...(before === undefined ? [] : [LessThan(before)]),
    ...(from === undefined ? [] : [numberedAfter(new Date(from))]),
    ...(to === undefined ? [] : [numberedBefore(new Date(to))]),
  ];
  const filters = FILTERS.filter((field) => filter[field] !== undefined);
  const [leader] = filters;
  return {
    where: {
      ...Object.fromEntries(filters.map((field) => [field, filter[field]])),
      ...(leader && { [leader]: Any([filter[leader]]) }),
      ...(numbers.length > 0 && { grantNo: And(...numbers) }),
      ...(created.length > 0 && { createdAt: And(...created) }),
    },
    order: { ...(leader && { [leader]: 'DESC' }), grantNo: 'DESC' },
    take: limit,
  };
}

const createdWhen = (comparison: string, values: Record<string, Date>) =>
  Raw<Date>((column) => rowByRow(`${column} ${comparison}`), values);

/**
 * Selects numbers above that of the newest grant created more than ORDER_DIFFERS_MINUTES before `from`. All grants with
 * lower numbers are older than `from`. The number is compared as a row of two values, because the planner expects few
 * rows if a plain column is between two unknown bounds. It would then read and sort the whole range.
 */
const numberedAfter = (from: Date) =>
  Raw<number>(
    (column) => `
      (${column}, 0) > (coalesce((SELECT grant_no FROM free_spin_grants WHERE created_at < :earliest
                                   ORDER BY created_at DESC, grant_no DESC LIMIT 1), 0), 0)`,
    { earliest: minutesLater(from, -ORDER_DIFFERS_MINUTES) },
  );

/** Selects numbers below that of the oldest grant created at least ORDER_DIFFERS_MINUTES after `to`. */
const numberedBefore = (to: Date) =>
  Raw<number>(
    (column) => `
      ${column} < coalesce((SELECT grant_no FROM free_spin_grants WHERE created_at >= :latest
                             ORDER BY created_at, grant_no LIMIT 1), ${HIGHEST_NUMBER})`,
    { latest: minutesLater(to, ORDER_DIFFERS_MINUTES) },
  );

function minutesLater(instant: Date, minutes: number): Date {
  return new Date(instant.getTime() + minutes * 60_000);
}
