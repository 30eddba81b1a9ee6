import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { leading, lookUp, rowByRow, UNMERGED } from '../database/planner.js';
import { named, type Statement } from '../database/statement.js';
import { AFTER_BATCH_ID, batchOf, type Cause, type GrantsOfBatch, partsOf } from './attention.js';
import {
  causeOf,
  type CountedBatch,
  grantsOfBatch,
  type RowsBySearch,
  type Search,
  type SearchedRow,
} from './causes.js';

/*
 * Searches for the causes of attention items in the tables of other rooms. The place of a row is its sort key. Each
 * query reads a window: the next rows after a place, newest first, because the newest causes may have no item yet. It
 * finds these rows with an index and reads no others of the table, so its cost is bounded.
 */

const RECENT = `statement_timestamp() - interval '30 seconds'`;

/** An expression over the item of a cause; null if there is none. */
const ofItem = (kind: string, subject: string, expression: string) =>
  lookUp(
    expression,
    `FROM attention_items i WHERE i.kind = '${kind}' AND i.subject = ${subject} AND i.cause_present`,
  );

/**
 * Whether a cause has an item.
 * @param condition which the item must meet, too
 */
const known = (kind: string, subject: string, condition = 'true') =>
  `coalesce(${ofItem(kind, subject, condition)}, false) AS known`;

/**
 * Whether a cause has an item, and the id of an item of an earlier cause with the same subject, which must be closed
 * before the cause can have its own.
 * @param isEarlier a condition on the item
 */
const knownUnless = (isEarlier: string, kind: string, subject: string) => `
  ${known(kind, subject, `NOT (${isEarlier})`)},
  ${ofItem(kind, subject, `CASE WHEN ${isEarlier} THEN i.item_id END`)} AS "earlierItem"`;

const TRANSACTION = `
  t.provider_id AS "providerId", t.transaction_id AS "transactionId", t.operator_id AS "operatorId", t.kind,
  t.player_ref AS "playerRef", t.amount_minor AS "amountMinor", t.currency, t.parked_at::text AS "parkedAt"`;
const SUBJECT = `t.provider_id || '/' || t.transaction_id`;

/**
 * Reads the index transactions_parked. A row counts as `known` only if its item was opened or updated after the
 * transaction was parked, or is CLOSED.
 */
const PARKED = named(
  'cause_parked',
  `
    SELECT ${TRANSACTION}, true AS due, t.parked_at > ${RECENT} AS recent,
           ${known('transaction', SUBJECT, `i.state = 'CLOSED' OR coalesce(i.parked_at >= t.parked_at, false)`)},
           ARRAY[t.parked_at::text, t.provider_id, t.transaction_id] AS place
      FROM (SELECT * FROM transactions
             WHERE state IN ('PENDING', 'TIMED_OUT') AND parked_at IS NOT NULL
               AND parked_at <= :at::timestamptz
               AND (parked_at, provider_id, transaction_id) < (:at::timestamptz, :providerId::text, :id::text)
             ORDER BY parked_at DESC, provider_id DESC, transaction_id DESC LIMIT :limit) t
     ORDER BY t.parked_at DESC, t.provider_id DESC, t.transaction_id DESC`,
);

/**
 * TIMED_OUT transactions that are not parked, and the time in UTC at which each became a cause: the later of its last
 * change and five minutes after its creation. Contract, section 9. Migration 0018 creates an index on these
 * expressions. Without `rowByRow`, the planner could combine other indexes and read all TIMED_OUT transactions.
 */
const TIMED_OUT = rowByRow(`state = 'TIMED_OUT' AND parked_at IS NULL`);
const UNDECIDED_SINCE = `greatest(created_at AT TIME ZONE 'UTC' + interval '5 minutes', updated_at AT TIME ZONE 'UTC')`;

/** Reads the index transactions_timed_out. */
const UNDECIDED = named(
  'cause_undecided',
  `
    SELECT ${TRANSACTION}, true AS due, t.since > (${RECENT}) AT TIME ZONE 'UTC' AS recent,
           ${known('transaction', SUBJECT)},
           ARRAY[(t.since AT TIME ZONE 'UTC')::text, t.provider_id, t.transaction_id] AS place
      FROM (SELECT *, ${UNDECIDED_SINCE} AS since FROM transactions
             WHERE ${TIMED_OUT} AND ${UNDECIDED_SINCE} <= :at::timestamptz AT TIME ZONE 'UTC'
               AND (${UNDECIDED_SINCE}, provider_id, transaction_id)
                   < (:at::timestamptz AT TIME ZONE 'UTC', :providerId::text, :id::text)
             ORDER BY ${UNDECIDED_SINCE} DESC, provider_id DESC, transaction_id DESC LIMIT :limit) t
     ORDER BY t.since DESC, t.provider_id DESC, t.transaction_id DESC`,
);

const GRANT = `
  g.provider_id AS "providerId", g.operator_id AS "operatorId", g.request_ref AS "requestRef", g.player_ref AS "playerRef",
  g.game_id AS "gameId", g.spins, g.bet_amount_minor AS "betAmountMinor", g.currency, g.batch_id AS "batchId"`;

/** Reads the index free_spin_grants_failed. The failed grants of a batch have one item. */
const GRANTS = named(
  'cause_grants',
  `
    SELECT ${GRANT}, g.failure_error AS error, g.outcome_unknown AS "outcomeUnknown", true AS due,
           g.updated_at > ${RECENT} AS recent, ${known('grant', 'coalesce(g.batch_id::text, g.request_ref)')},
           ARRAY[g.updated_at::text, g.request_ref] AS place
      FROM (SELECT * FROM free_spin_grants
             WHERE state = 'FAILED' AND updated_at <= :at::timestamptz
               AND (updated_at, request_ref) < (:at::timestamptz, :id::text)
             ORDER BY updated_at DESC, request_ref DESC LIMIT :limit) g
     ORDER BY g.updated_at DESC, g.request_ref DESC`,
);

/** Condition for a grant whose spins could not be cancelled at its expiresAt. A completed grant has no spins left. */
const EXPIRY_FAILED = `g.state = 'GRANTED' AND g.expiry = 'FAILED' AND g.completed IS NOT TRUE`;

/**
 * Condition for the item of an earlier failure of a single grant that a person has closed. The item of the expiry is
 * opened after both the latest answer to the grant and its expiresAt.
 */
const CLOSED_BEFORE_EXPIRY = `
  g.batch_id IS NULL AND i.state = 'CLOSED' AND i.created_at < greatest(g.granted_at, g.expires_at)`;

/** Reads the index free_spin_grants_expiry_failed. Such grants of a batch have one item, too. */
const EXPIRIES = named(
  'cause_expiries',
  `
    SELECT ${GRANT}, g.last_cancel_error AS error, g.completed IS NOT TRUE AS due, g.updated_at > ${RECENT} AS recent,
           ${knownUnless(CLOSED_BEFORE_EXPIRY, 'grant', `coalesce(g.batch_id || '${AFTER_BATCH_ID.expiry}', g.request_ref)`)},
           ARRAY[g.updated_at::text, g.request_ref] AS place
      FROM (SELECT * FROM free_spin_grants
             WHERE state = 'GRANTED' AND expiry = 'FAILED' AND updated_at <= :at::timestamptz
               AND (updated_at, request_ref) < (:at::timestamptz, :id::text)
             ORDER BY updated_at DESC, request_ref DESC LIMIT :limit) g
     ORDER BY g.updated_at DESC, g.request_ref DESC`,
);

/**
 * Condition for a grant whose spins could not be cancelled before its expiresAt, such as those that are left when the
 * cancels of a batch are given up. A duplicate has an item of its own.
 */
const CANCEL_FAILED = `
  g.state = 'GRANTED' AND g.last_cancel_error IS NOT NULL AND g.expiry IS NULL AND g.completed IS NOT TRUE
  AND g.duplicate_of IS NULL`;

/**
 * Reads the index free_spin_grants_cancel_failed. Such grants of a batch have one item. A single grant needs none: the
 * person who has cancelled it has learnt of the failure.
 */
const CANCELS = named(
  'cause_cancels',
  `
    SELECT ${GRANT}, g.last_cancel_error AS error, true AS due, g.updated_at > ${RECENT} AS recent,
           ${known('grant', `g.batch_id || '${AFTER_BATCH_ID.cancel}'`)},
           ARRAY[g.updated_at::text, g.request_ref] AS place
      FROM (SELECT * FROM free_spin_grants g
             WHERE batch_id IS NOT NULL AND ${CANCEL_FAILED} AND updated_at <= :at::timestamptz
               AND (updated_at, request_ref) < (:at::timestamptz, :id::text)
             ORDER BY updated_at DESC, request_ref DESC LIMIT :limit) g
     ORDER BY g.updated_at DESC, g.request_ref DESC`,
);

/**
 * Reads the index free_spin_grants_duplicates. An item without `duplicate_of` belongs to an earlier failure of the
 * grant. Such an item may be newer than the duplicate: an instance may have read the failure just before the grant was
 * resent.
 */
const DUPLICATES = named(
  'cause_duplicates',
  `
    SELECT ${GRANT}, g.duplicate_of AS "duplicateOf", true AS due, g.granted_at > ${RECENT} AS recent,
           ${knownUnless('i.duplicate_of IS NULL', 'grant', 'g.request_ref')},
           ARRAY[g.granted_at::text, g.request_ref] AS place
      FROM (SELECT * FROM free_spin_grants
             WHERE duplicate_of IS NOT NULL AND granted_at <= :at::timestamptz
               AND (granted_at, request_ref) < (:at::timestamptz, :id::text)
             ORDER BY granted_at DESC, request_ref DESC LIMIT :limit) g
     ORDER BY g.granted_at DESC, g.request_ref DESC`,
);

/**
 * When the callback of a revocation failed or, if its outcome is unknown, when its lease ended. Migration 0018 creates
 * an index on this expression.
 */
const UNDELIVERED_SINCE = 'coalesce(lease_until, failed_at, created_at)';

/** Reads the index session_revocations_failed. */
const REVOCATIONS = named(
  'cause_revocations',
  `
    SELECT s.provider_id AS "providerId", s.operator_id AS "operatorId", s.player_ref AS "playerRef",
           r.session_id AS "sessionId", r.error, true AS due, r.since > ${RECENT} AS recent,
           ${known('revocation', 'r.session_id::text')}, ARRAY[r.since::text, r.session_id::text] AS place
      FROM (SELECT *, ${UNDELIVERED_SINCE} AS since FROM session_revocations
             WHERE sent AND delivered IS NOT TRUE AND ${UNDELIVERED_SINCE} <= :at::timestamptz
               AND (${UNDELIVERED_SINCE}, session_id) < (:at::timestamptz, :id::uuid)
             ORDER BY ${UNDELIVERED_SINCE} DESC, session_id DESC LIMIT :limit) r
     CROSS JOIN LATERAL (SELECT * FROM sessions WHERE session_id = r.session_id ${UNMERGED}) s
     ORDER BY r.since DESC, r.session_id DESC`,
);

/**
 * Reads the index approvals_of_state. Returns the terms only of approvals without an item, because those of a batch have
 * up to 1,000 players.
 */
const APPROVALS = named(
  'cause_approvals',
  `
    SELECT a.approval_id AS "approvalId", a.operator_id AS "operatorId", a.kind,
           CASE WHEN NOT item.known THEN a.deed END AS terms, a.expires_at > statement_timestamp() AS due,
           a.created_at > ${RECENT} AS recent, item.known, ARRAY[a.created_at::text, a.approval_id::text] AS place
      FROM (SELECT * FROM approvals
             WHERE ${leading({ state: `'WAITING'` }, { created_at: ':at::timestamptz', approval_id: ':id::uuid' })}
             ORDER BY state DESC, created_at DESC, approval_id DESC LIMIT :limit) a
     CROSS JOIN LATERAL (SELECT ${known('approval', 'a.approval_id::text')} ${UNMERGED}) item
     ORDER BY a.created_at DESC, a.approval_id DESC`,
);

const LAST_UUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Each search, and the place after which its first window begins. A search that begins at `now`, by the database's
 * clock, skips rows that become causes later.
 */
export const SEARCHES = {
  parked: { statement: PARKED, begin: ['infinity', '', ''] },
  undecided: { statement: UNDECIDED, begin: ['now', '', ''] },
  grants: { statement: GRANTS, begin: ['infinity', ''] },
  expiries: { statement: EXPIRIES, begin: ['infinity', ''] },
  cancels: { statement: CANCELS, begin: ['infinity', ''] },
  duplicates: { statement: DUPLICATES, begin: ['infinity', ''] },
  revocations: { statement: REVOCATIONS, begin: ['now', LAST_UUID] },
  approvals: { statement: APPROVALS, begin: ['infinity', LAST_UUID] },
} as const satisfies Record<string, { statement: Statement; begin: readonly string[] }>;

/**
 * Selects the subjects for which the condition is true. `k` has a subject and its two parts, and the id of the batch that
 * the subject may name.
 */
const stillWhere = (name: string, condition: string) =>
  named(
    `cause_still_${name}`,
    `
    SELECT k.subject
      FROM unnest(:subjects::text[], :providerIds::text[], :ids::text[], :batchIds::uuid[])
        AS k (subject, provider_id, id, batch_id)
     WHERE ${condition}`,
  );

/** Whether any grant of the batch k.batch_id meets the condition. */
const inBatch = (condition: string) =>
  lookUp('true', `FROM free_spin_grants g WHERE g.batch_id = k.batch_id AND (${condition}) LIMIT 1`);

/**
 * While a grant of the batch is sent again or voided, its failure counts as present. A grant that was granted at its first
 * attempt did not fail, even if its cancel did. An attempt whose call could not be made counts like one that failed.
 */
const BATCH_FAILS = `
  g.state = 'FAILED' OR (g.state = 'PENDING' AND g.attempt > 0)
  OR (g.state = 'GRANTED' AND g.attempt > 1 AND g.cancel_due AND g.expiry IS NULL)`;

/**
 * Selects the subjects whose cause is still present. While an attempt or a callback is in flight, the cause counts as
 * present.
 */
export const STILL = {
  transaction: stillWhere(
    'transaction',
    `${lookUp('t.state', 'FROM transactions t WHERE t.provider_id = k.provider_id AND t.transaction_id = k.id')}
       IN ('PENDING', 'TIMED_OUT')`,
  ),
  grant: stillWhere(
    'grant',
    // `void` makes a FAILED grant GRANTED and then cancels it. The cause is present until the cancel has succeeded. A
    // duplicate remains one, so only a person closes its item. A subject may be a requestRef or name a batch.
    `coalesce(${lookUp(
      `g.state IN ('PENDING', 'FAILED') OR g.duplicate_of IS NOT NULL
             OR (g.state = 'GRANTED' AND g.completed IS NOT TRUE AND (g.cancel_due OR g.last_cancel_error IS NOT NULL))`,
      'FROM free_spin_grants g WHERE g.request_ref = k.subject',
    )}, false)
       OR (k.subject = k.batch_id::text AND ${inBatch(BATCH_FAILS)})
       OR (k.subject = k.batch_id || '${AFTER_BATCH_ID.expiry}' AND ${inBatch(EXPIRY_FAILED)})
       OR (k.subject = k.batch_id || '${AFTER_BATCH_ID.cancel}' AND ${inBatch(CANCEL_FAILED)})`,
  ),
  revocation: stillWhere(
    'revocation',
    lookUp('r.delivered IS NOT TRUE', 'FROM session_revocations r WHERE r.session_id = k.subject::uuid'),
  ),
  approval: stillWhere(
    'approval',
    lookUp(
      `a.state = 'WAITING' AND a.expires_at > statement_timestamp()`,
      'FROM approvals a WHERE a.approval_id = k.subject::uuid',
    ),
  ),
} as const;

/**
 * Counts the grants of batches that meet a condition, and how many of them may be live although they failed. Without such
 * grants, a batch has no row.
 */
const countInBatches = (name: string, condition: string) =>
  named(
    `cause_count_${name}`,
    `
    SELECT b.batch_id AS "batchId", b.batch_ref AS "batchRef", b.operator_id AS "operatorId",
           c.provider_id AS "providerId", c.game_id AS "gameId", c.count, c.unknown
      FROM unnest(:batchIds::uuid[]) AS k (batch_id)
      JOIN free_spin_batches b ON b.batch_id = k.batch_id
     CROSS JOIN LATERAL (
       SELECT min(g.provider_id) AS provider_id, min(g.game_id) AS game_id, count(*)::int AS count,
              (count(*) FILTER (WHERE g.outcome_unknown))::int AS unknown
         FROM free_spin_grants g WHERE g.batch_id = k.batch_id AND ${condition}) c
     WHERE c.count > 0`,
  );

export const COUNT_IN_BATCHES = {
  /** Reads the index free_spin_grants_failed_of_batch. */
  failed: countInBatches('failed', `g.state = 'FAILED'`),
  expiry: countInBatches('expiry', EXPIRY_FAILED),
  cancel: countInBatches('cancel', CANCEL_FAILED),
} as const satisfies Record<GrantsOfBatch, Statement>;

@Injectable()
export class CauseStore {
  constructor(private readonly database: Database) {}

  /**
   * Reads the next window of a search: at most `limit` rows. `newCause` is undefined if a row is no cause now, or has
   * an item that is up to date.
   * @param place the place of the last row of the previous window; undefined to begin with the newest row
   */
  async window(
    search: Search,
    place: readonly string[] | undefined,
    limit: number,
  ): Promise<(SearchedRow & { readonly newCause: Cause | undefined })[]> {
    const { statement, begin } = SEARCHES[search];
    const [at, ...keys] = place ?? begin;
    // The cast is safe: both lookups use the same search, whose rows have the type that its mapping expects.
    const toCause = causeOf[search] as (row: RowsBySearch[Search]) => Cause;
    const rows = await this.database.query<RowsBySearch[Search]>(statement, {
      limit,
      at,
      providerId: keys[0],
      id: keys.at(-1),
    });
    return rows.map((row) => ({ ...row, newCause: row.due && !row.known ? toCause(row) : undefined }));
  }

  async still(kind: keyof typeof STILL, subjects: readonly string[]): Promise<Set<string>> {
    if (subjects.length === 0) return new Set();
    const parts = subjects.map(partsOf);
    const batches = subjects.map(batchOf);
    const rows = await this.database.query<{ subject: string }>(STILL[kind], {
      subjects,
      providerIds: parts.map(({ providerId }) => providerId),
      ids: parts.map(({ id }) => id),
      batchIds: batches.map((batch) => batch?.batchId ?? null),
    });
    return new Set(rows.map(({ subject }) => subject));
  }

  /**
   * Returns the causes of batches with grants that need a person now, each with their number.
   * @param subjects of items of the kind `grant`; those that name no batch are ignored
   */
  async ofBatches(subjects: readonly string[]): Promise<Cause[]> {
    const batches = subjects.flatMap((subject) => batchOf(subject) ?? []);
    const causes = await Promise.all(
      (Object.keys(COUNT_IN_BATCHES) as GrantsOfBatch[]).map(async (what) => {
        const batchIds = batches.filter((batch) => batch.what === what).map(({ batchId }) => batchId);
        if (batchIds.length === 0) return [];
        const rows = await this.database.query<CountedBatch>(COUNT_IN_BATCHES[what], { batchIds });
        return rows.map((row) => grantsOfBatch(what, row));
      }),
    );
    return causes.flat();
  }
}
