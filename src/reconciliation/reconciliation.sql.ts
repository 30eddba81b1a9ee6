/** A temporary table of the connection for the lines of the operator's statement. */
export const CREATE_LINES = `
  CREATE TEMPORARY TABLE statement_lines (
    line                     integer NOT NULL,
    provider_id              text NOT NULL,
    transaction_id           text NOT NULL,
    kind                     text NOT NULL,
    original_transaction_id  text NOT NULL,
    player_ref               text NOT NULL,
    currency                 text NOT NULL,
    amount_minor             bigint NOT NULL,
    status                   text NOT NULL,
    booked_at                text NOT NULL,
    booked_at_ms             bigint
  )`;

/** Inserts lines. Each parameter is the array of one column's values. */
export const INSERT_LINES = `
  INSERT INTO pg_temp.statement_lines
  SELECT * FROM unnest($1::integer[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
                       $8::bigint[], $9::text[], $10::text[], $11::bigint[])`;

export const INDEX_LINES = `
  CREATE INDEX ON pg_temp.statement_lines (provider_id, transaction_id, line);
  ANALYZE pg_temp.statement_lines`;

/**
 * Columns of the platform's record and, for a ROLLBACK, of its target. `recordInRange` means $2 ≤ `created_at` < $3.
 * The `kind` of a tombstone is null.
 */
const RECORD = `
  p.transaction_id AS "recordId", p.provider_id AS "recordProviderId", p.kind AS "recordKind",
  p.original_transaction_id AS "recordOriginal", p.player_ref AS "recordPlayerRef", p.currency AS "recordCurrency",
  p.amount_minor AS "recordAmountMinor", p.state, p.verdict IS NOT NULL AS "ownVerdict",
  p.response_body IS NOT NULL AS answered, p.created_at AS "createdAt",
  (p.created_at >= $2 AND p.created_at < $3) AS "recordInRange",
  target.transaction_id IS NOT NULL AS "hasTarget", target.kind IS NOT NULL AS "targetKnown",
  (target.kind = 'BET' AND target.response_body IS NOT NULL) AS "targetBooked",
  target_line.amount_minor AS "targetLineAmountMinor"`;

/** Joins the target of a ROLLBACK: its record on the platform, and its first APPROVED line in the statement. */
const TARGET = `
  LEFT JOIN transactions target
    ON p.kind = 'ROLLBACK' AND target.provider_id = p.provider_id
   AND target.transaction_id = p.original_transaction_id
  LEFT JOIN LATERAL (
    SELECT l.amount_minor FROM pg_temp.statement_lines l
     WHERE p.kind = 'ROLLBACK' AND l.provider_id = p.provider_id AND l.transaction_id = p.original_transaction_id
       AND l.status = 'APPROVED'
     ORDER BY l.line LIMIT 1
  ) target_line ON true`;

/** Each line with the platform's record of the same id for the operator $1, even if the record is outside the range. */
export const PAIRS = `
  SELECT l.line, l.provider_id AS "providerId", l.transaction_id AS "transactionId", l.kind,
         l.original_transaction_id AS "originalTransactionId", l.player_ref AS "playerRef", l.currency,
         l.amount_minor AS "amountMinor", l.status, l.booked_at AS "bookedAt", l.booked_at_ms AS "bookedAtMs",
         l.first_line AS "firstLine", ${RECORD}
    FROM (SELECT s.*, min(s.line) OVER (PARTITION BY s.provider_id, s.transaction_id) AS first_line
            FROM pg_temp.statement_lines s) l
    LEFT JOIN transactions p
      ON p.provider_id = l.provider_id AND p.transaction_id = l.transaction_id
     AND p.operator_id = $1 AND p.mode = 'REAL'
    ${TARGET}
   ORDER BY l.line`;

/** The platform's records without a line, for the operator $1 in the range, except tombstones. */
export const RECORDS_WITHOUT_LINE = `
  SELECT ${RECORD}
    FROM transactions p
    ${TARGET}
   WHERE p.operator_id = $1 AND p.mode = 'REAL' AND p.kind IS NOT NULL
     AND p.created_at >= $2 AND p.created_at < $3
     AND NOT EXISTS (SELECT FROM pg_temp.statement_lines l
                      WHERE l.provider_id = p.provider_id AND l.transaction_id = p.transaction_id)
   ORDER BY p.created_at, p.provider_id, p.transaction_id`;
