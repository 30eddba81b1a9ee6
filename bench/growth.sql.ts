import pg from 'pg';
import { tidy } from './postgres.js';
import { CURRENCY } from './world.js';

/** The tenants of the seeded rows: the n-th provider has the n-th game and operator. */
export interface Tenants {
  readonly providers: readonly string[];
  readonly operators: readonly string[];
  readonly games: readonly string[];
}

const CHUNK = 500_000;

/**
 * Session i belongs to player-i and has the token token-i. It began within the last 90 days and is valid for another
 * day. $3 to $5 are the tenants.
 */
const SESSIONS = `
INSERT INTO sessions (session_id, token_hash, operator_id, provider_id, player_ref, game_id, currency, mode, created_at,
                      expires_at)
SELECT gen_random_uuid(), sha256(convert_to('token-' || i, 'UTF8')), ($4::text[])[1 + i % cardinality($4::text[])],
       ($3::text[])[1 + i % cardinality($3::text[])], 'player-' || i, ($5::text[])[1 + i % cardinality($5::text[])],
       '${CURRENCY}', 'REAL', now() - random() * interval '90 days', now() + interval '1 day'
  FROM generate_series($1::int, $2::int - 1) i`;

/**
 * Claims of transactions, as the service makes them. They alternate between a BET and the WIN of its round, and are
 * spread evenly over 90 days. One round in ten belongs to player-0. Ids are practically random, so that they are spread
 * over an index. $6 is the number of transactions, $7 that of sessions.
 */
const CLAIMS = `
INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id, session_id,
                          mode, player_ref, game_id, currency, amount_minor, round_id, attempt, lease_until, created_at)
SELECT ($3::text[])[1 + s % cardinality($3::text[])], md5('transaction-' || i), uuid,
       CASE WHEN i % 2 = 0 THEN 'BET' ELSE 'WIN' END, 'PENDING', ($4::text[])[1 + s % cardinality($4::text[])], uuid,
       'REAL', 'player-' || s, ($5::text[])[1 + s % cardinality($5::text[])], '${CURRENCY}', 100, md5('round-' || i / 2),
       1, now(), now() - ($6::bigint - i) * (interval '90 days' / $6::bigint)
  FROM generate_series($1::bigint, $2::bigint - 1) i
 CROSS JOIN LATERAL (
   SELECT CASE WHEN i / 2 % 10 = 0 THEN 0 ELSE (i / 2 * 7919 % $7::bigint)::int END AS s,
          md5('platform-' || i)::uuid AS uuid) AS made`;

/** Settles the claims. One round in fifty is declined. */
const SETTLEMENTS = `
UPDATE transactions
   SET state = settled, lease_until = NULL, updated_at = created_at,
       decline_reason = CASE settled WHEN 'DECLINED' THEN 'INSUFFICIENT_FUNDS' END,
       attempts = jsonb_build_array(jsonb_build_object('attempt', 1, 'startedAt', created_at, 'durationMs', 2,
                                                       'outcome', settled)),
       response_body = format(
         '{"transactionId":"%s","platformTransactionId":"%s","status":"%s","balance":100000,"currency":"EUR"}',
         transaction_id, platform_transaction_id, settled)
  FROM (SELECT ctid AS row, CASE WHEN (hashtext(round_id) & 1023) % 50 = 7 THEN 'DECLINED' ELSE 'APPROVED' END AS settled
          FROM transactions WHERE state = 'PENDING') AS claimed
 WHERE ctid = claimed.row`;

const INDEXES = `
SELECT i.indexrelid::regclass::text AS name, pg_get_indexdef(i.indexrelid) AS index, c.conname AS constraint,
       pg_get_constraintdef(c.oid) AS definition
  FROM pg_index i LEFT JOIN pg_constraint c ON c.conindid = i.indexrelid AND c.conrelid = i.indrelid
 WHERE i.indrelid = $1::regclass`;

interface Index {
  readonly name: string;
  readonly index: string;
  readonly constraint: string | null;
  readonly definition: string | null;
}

/** Fills the database of a service that is stopped, and whose tenants are registered. */
export async function seed(
  databaseUrl: string,
  tenants: Tenants,
  sessions: number,
  transactions: number,
): Promise<void> {
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  try {
    await fillWhole(database, tenants, sessions, transactions);
  } finally {
    await database.end();
  }
}

async function fillWhole(
  database: pg.Client,
  { providers, operators, games }: Tenants,
  sessions: number,
  transactions: number,
): Promise<void> {
  await database.query(`SET synchronous_commit = off; SET maintenance_work_mem = '512MB'`);
  const fill = async (
    statement: string,
    count: number,
    further: readonly unknown[] = [],
    afterwards: readonly string[] = [],
  ) => {
    for (let from = 0; from < count; from += CHUNK) {
      const to = Math.min(count, from + CHUNK);
      await database.query(statement, [from, to, providers, operators, games, ...further]);
      for (const each of afterwards) await database.query(each);
      // Keeps the WAL from growing as large as the data.
      await database.query('CHECKPOINT');
    }
  };
  await database.query('DELETE FROM sessions');
  await fill(SESSIONS, sessions);
  // Building one index after the other is several times faster than maintaining all of them row by row.
  const { rows: indexes } = await database.query<Index>(INDEXES, ['transactions']);
  for (const { name, constraint } of indexes) {
    await database.query(
      constraint === null ? `DROP INDEX ${name}` : `ALTER TABLE transactions DROP CONSTRAINT ${constraint}`,
    );
  }
  // VACUUM frees the place of the claims, which the next ones use. Otherwise each page would have room for one more row,
  // and each BET of the measurement would change a page that no other BET changes.
  await fill(CLAIMS, transactions, [transactions, sessions], [SETTLEMENTS, 'VACUUM transactions']);
  for (const { index, constraint, definition } of indexes) {
    await database.query(
      constraint === null ? index : `ALTER TABLE transactions ADD CONSTRAINT ${constraint} ${definition}`,
    );
    await database.query('CHECKPOINT');
  }
  await tidy(database);
}
