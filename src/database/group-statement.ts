import { fewRows } from './planner.js';
import { named, type Statement } from './statement.js';

/** A statement over any number of rows of values, in two forms: for one row, and for a batch. */
export interface GroupStatement {
  readonly single: Statement;
  readonly batch: Statement;
  /** The columns of a row by the names of their values, such as `player_ref` by `playerRef`. */
  readonly columns: ReadonlyMap<string, string>;
  /** The column of a result row that identifies the item to which the row belongs. */
  readonly key: string;
  /**
   * Finds the row of an earlier execution that was committed although its result was lost. Takes the values of one
   * row.
   */
  readonly alreadyDone: Statement | undefined;
}

interface GroupStatementOptions {
  /**
   * `item` by default. A statement whose result cannot have the column `item` names another column, whose values must
   * differ among the items of a batch.
   */
  readonly key?: string;
  /** Returns the SQL of `alreadyDone`; `source` is a subquery of one row with the statement's values. */
  readonly alreadyDone?: (source: string) => string;
}

/**
 * Creates both forms of a statement.
 * @param types the type of each value, by its name
 * @param text returns the SQL; `source` is a subquery of one row per item, which has `item` and a column for each value,
 *   such as `player_ref` for `playerRef`
 */
export function groupStatement(
  name: string,
  types: Readonly<Record<string, string>>,
  text: (source: string) => string,
  { key = 'item', alreadyDone }: GroupStatementOptions = {},
): GroupStatement {
  const typed = Object.entries(types).map(([value, type]) => ({ value, type, column: columnOf(value) }));
  const parameters = typed.map(({ value, type, column }) => `:${value}::${type} AS ${column}`).join(', ');
  const fields = typed.map(({ type, column }) => `${column} ${type}`).join(', ');
  const oneRow = `SELECT 0 AS item, ${parameters}`;
  return {
    single: named(name, text(oneRow)),
    batch: named(
      `${name}_batch`,
      text(`SELECT * FROM json_to_recordset(:items::json) AS source (item integer, ${fields})
             WHERE ${fewRows('source.item')}`),
    ),
    columns: new Map(typed.map(({ value, column }) => [value, column])),
    key,
    alreadyDone: alreadyDone && named(`${name}_already_done`, alreadyDone(oneRow)),
  };
}

function columnOf(value: string): string {
  return value.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
