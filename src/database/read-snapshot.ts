import { named } from './statement.js';

/** Makes all reads of a database transaction see the same rows. It must be the transaction's first statement. */
export const READ_SNAPSHOT = named(
  'read_snapshot',
  'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY',
);
