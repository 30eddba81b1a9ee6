import type { Statement } from '../database/database.js';

/** Commits without waiting for the disk, because losing the rows when the database crashes does no harm. */
export const COMMIT_ASYNCHRONOUSLY: Statement = {
  name: 'attempt_ids_commit_asynchronously',
  text: 'SET LOCAL synchronous_commit = off',
};

export const INSERT_IDS: Statement = {
  name: 'attempt_ids_insert',
  text: `
    INSERT INTO attempt_ids (provider_id, transaction_id, platform_transaction_id, request_id, operator_transaction_id)
    SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[], $4::text[], $5::text[])`,
};

/** Deletes at most $2 rows older than $1 days, except those that another instance is deleting. */
export const DELETE_EXPIRED: Statement = {
  name: 'attempt_ids_delete_expired',
  text: `
    WITH deleted AS (
      DELETE FROM attempt_ids WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM attempt_ids WHERE created_at < clock_timestamp() - make_interval(days => $1)
         ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED))
      RETURNING 1)
    SELECT count(*)::int AS rows FROM deleted`,
};
