import type { ColumnOptions, ColumnType, ValueTransformer } from 'typeorm';

/*
 * The column types of the schema, for entities: `@Column(nullable(instant('revoked_at')))`. Each function takes the
 * column's name in the database. Entities describe the tables; migrations create them.
 */

/** Options of a column that may also be a primary key. */
type ColumnOfType = Pick<ColumnOptions, 'name' | 'type' | 'transformer'>;

const columnOf =
  (type: ColumnType) =>
  (name: string): ColumnOfType => ({ name, type });

export const text = columnOf('text');
export const integer = columnOf('integer');
export const flag = columnOf('boolean');
export const uuid = columnOf('uuid');
/** A bytea column, as a Buffer. */
export const bytes = columnOf('bytea');
/**
 * A timestamptz column, as a Date. Microseconds are cut off. In JSON, the value is ISO 8601 in UTC,
 * `2026-01-31T23:59:59.000Z`.
 */
export const instant = columnOf('timestamptz');

/** A text[] column, as a list of strings. */
export function texts(name: string): ColumnOptions {
  return { name, type: 'text', array: true };
}

/**
 * A bigint column, as a number.
 * @throws RangeError if a value outside ±(2^53-1) is read or written
 */
export function bigInteger(name: string): ColumnOfType {
  return { name, type: 'bigint', transformer: SAFE_INTEGER };
}

export function nullable(column: ColumnOptions): ColumnOptions {
  return { ...column, nullable: true };
}

/**
 * Makes the column write-only for repositories, so that no entity carries it into an answer, a log line or the audit
 * log.
 */
export function secret(column: ColumnOptions): ColumnOptions {
  return { ...column, select: false };
}

/** The database's current time, as the value of a column in an insert or an update. */
export const databaseTime = () => 'statement_timestamp()';

const SAFE_INTEGER: ValueTransformer = { from: safeInteger, to: safeInteger };

function safeInteger(value: unknown): unknown {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw new RangeError(`a bigint column holds integers up to 2^53-1, not ${value}`);
  }
  return value;
}
