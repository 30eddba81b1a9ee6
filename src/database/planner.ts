/*
 * Ways to steer PostgreSQL's planner, each with one name. Without them it may read a whole table, because it lacks
 * statistics, because it assumes that columns are independent of each other, or because it plans before the values are
 * known. The plans are tested on the embedded PostgreSQL, 18.4 (`plans.long.test.ts` and `plans.test.ts` in the
 * folders of test/), and the statements run on PostgreSQL 15 in test/engines/. Other versions were not compared.
 *
 * A search for due or expired rows compares with `statement_timestamp()`: an index cannot be searched for the volatile
 * `clock_timestamp()`.
 */

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

/** SQL of columns, in the order of an index, each with the SQL of the value to which it is compared. */
export type Row = Readonly<Record<string, string>>;

/**
 * Compares columns with values as one row. An index that begins with these columns serves the comparison as one bound of
 * a range.
 */
export function compareRow(row: Row, comparison: '<' | '<=' | '>=' | '>'): string {
  // One column is a row only together with another value.
  const rest = Object.keys(row).length === 1 ? ['0'] : [];
  const columns = [...Object.keys(row), ...rest].join(', ');
  return `(${columns}) ${comparison} (${[...Object.values(row), ...rest].join(', ')})`;
}

/**
 * Equality of columns of type text, for a list whose order begins with them: with `=`, the planner would remove them from
 * the order, and could read another index past all newer rows with other values. The values are hidden: if they are more
 * frequent than the statistics tell, or if the plan is for any values, the planner could otherwise expect few rows, and
 * read and sort all of them for each page. Of an unknown range it expects a ninth of all rows, so it follows the index.
 * @param before the columns that follow in the index, with the place at which the rows end
 */
export function leading(row: Row, before?: Row): string {
  const values = hiddenTexts(row);
  const end = before ? compareRow({ ...values, ...before }, '<') : compareRow(values, '<=');
  return `${compareRow(values, '>=')} AND ${end}`;
}

/** The same columns with hidden values, all of type text. */
export const hiddenTexts = (row: Row): Row =>
  Object.fromEntries(Object.entries(row).map(([column, value]) => [column, hidden(value, 'text')]));
