/*
 * Ways to steer PostgreSQL's planner, each with one name. Without them it may read a whole table, because it lacks
 * statistics, because it assumes that columns are independent of each other, or because it plans before the values are
 * known. The plans are tested on the embedded PostgreSQL, 18.4 (`plans.long.test.ts` in test/desk/ and test/attention/,
 * test/group-commit/), and the statements run on PostgreSQL 15 in test/engines/. Other versions were not compared.
 */

/**
 * A condition that a column equals a value, for a list whose order begins with that column. With a plain `=`, the
 * planner would remove the column from the order, and could then scan the index by time, past all newer rows with other
 * values. `= ANY` does not count as equality with a constant, so only an index that begins with the column has the
 * required order.
 */
export const leading = (column: string, wanted: string): string => `${column} = ANY (ARRAY[${wanted}])`;

/**
 * A value that the planner does not know when it estimates rows. It assumes that times are independent of the other
 * columns: for a tenant without recent rows, it would expect that few rows are older than an old time, and would read
 * and sort all rows of the tenant for each page.
 */
export const hidden = (value: string, type: string): string => `(SELECT ${value}::${type})`;

/**
 * Ends a sub-select that the planner must not merge with the query around it. Conditions and an order from outside then
 * cannot make it choose another index than that of the sub-select's own conditions.
 */
export const UNMERGED = 'OFFSET 0';

/** Conditions that are tested row by row along an index, however selective the planner believes them to be. */
export const rowByRow = (conditions: string): string => `CASE WHEN ${conditions} THEN true END`;

/**
 * Equality of several columns, written as a range of row values. Only an index that begins with all these columns serves
 * it, so the planner does not combine others.
 */
export const asRange = (columns: string, wanted: string): string =>
  `(${columns}) >= (${wanted}) AND (${columns}) <= (${wanted})`;

/**
 * An expression over the one row that the FROM clause finds by a key; null if there is none. A scalar sub-select always
 * uses the index. For EXISTS, NOT EXISTS or IN, the planner may read the whole table to join it.
 * @param from begins with FROM
 */
export const lookUp = (expression: string, from: string): string => `(SELECT ${expression} ${from})`;

/**
 * A condition that is always true. PostgreSQL estimates a hundred rows for any JSON, and for so many rows it prefers a
 * scan of a small table to an index. The condition lowers the estimate to one row.
 * @param column an integer that is never null
 */
export const fewRows = (column: string): string => `${column} + 0 = ${column}`;
