import type { ColumnOptions, ValueTransformer } from 'typeorm';

/*
 * The column types of the schema, for entities: `@Column(nullable(instant('revoked_at')))`. Each function takes the
 * column's name in the database. Entities describe the tables; the migrations make them.
 */

/** Of a column that may be a primary key, too. */
type ColumnOfType = Pick<ColumnOptions, 'name' | 'type' | 'transformer'>;

export function text(name: string): ColumnOfType {
  return { name, type: 'text' };
}

/** A list of texts. */
export function texts(name: string): ColumnOptions {
  return { name, type: 'text', array: true };
}

export function integer(name: string): ColumnOfType {
  return { name, type: 'integer' };
}

/** A number: the schema bounds each bigint by ±(2^53-1). @throws RangeError if one is read or written that is not */
export function bigInteger(name: string): ColumnOfType {
  return { name, type: 'bigint', transformer: SAFE_INTEGER };
}

export function flag(name: string): ColumnOfType {
  return { name, type: 'boolean' };
}

export function uuid(name: string): ColumnOfType {
  return { name, type: 'uuid' };
}

/** A Buffer. */
export function bytes(name: string): ColumnOfType {
  return { name, type: 'bytea' };
}

/** A Date: milliseconds, any further digits cut off. JSON has it as ISO 8601 in UTC, `2026-01-31T23:59:59.000Z`. */
export function instant(name: string): ColumnOfType {
  return { name, type: 'timestamptz' };
}

/** The column may be NULL, which the entity has as null. */
export function nullable(column: ColumnOptions): ColumnOptions {
  return { ...column, nullable: true };
}

/** Repositories write the column and never read it, so that no entity carries it into an answer, the log or the audit. */
export function secret(column: ColumnOptions): ColumnOptions {
  return { ...column, select: false };
}

/** The time by the database's clock, as the value of a column in an insert or an update. */
export const databaseTime = () => 'statement_timestamp()';

const SAFE_INTEGER: ValueTransformer = { from: safeInteger, to: safeInteger };

/** @throws RangeError */
function safeInteger(value: unknown): unknown {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw new RangeError(`a bigint column holds integers up to 2^53-1, not ${value}`);
  }
  return value;
}
