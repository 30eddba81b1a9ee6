import type { Statement } from '../database/database.js';

/** The actor of the changes that Croupier makes itself. */
export const PLATFORM_ACTOR = 'croupier';

const NOW = 'statement_timestamp()';

/** The columns of an item. `t` is the table's alias. */
export const ITEM_COLUMNS = `
  t.item_id AS id, t.kind, t.subject, t.state, t.operator_id AS "operatorId", t.provider_id AS "providerId", t.summary,
  t.count, t.href, t.assignee, t.snoozed_until AS "snoozedUntil", t.closed_at AS "closedAt", t.closed_by AS "closedBy",
  t.closed_by_name AS "closedByName", t.close_reason AS reason, t.created_at AS "createdAt"`;

/** A CTE that adds an event to each item of the CTE `from`. */
const recordEvent = (from: string, event: string, actor: string, name = 'NULL', text = 'NULL') => `
  recorded AS (INSERT INTO attention_events (item_id, event, actor, actor_name, text, created_at)
           SELECT item_id, ${event}, ${actor}, ${name}, ${text}, ${NOW} FROM ${from})`;

/**
 * Opens an item for each cause that has none. As long as a cause is present, even its closed item prevents a new one.
 * $1: causes as JSON; $2: the actor.
 */
export const OPEN: Statement = {
  name: 'attention_open',
  text: `
    WITH opened AS (
      INSERT INTO attention_items (item_id, kind, subject, state, operator_id, provider_id, summary, count, href,
                                   parked_at, duplicate_of, range_from, range_to, created_at)
      SELECT item_id, kind, subject, 'OPEN', operator_id, provider_id, summary, count, href, parked_at, duplicate_of,
             range_from, range_to, ${NOW}
        FROM json_to_recordset($1::json) AS cause (item_id uuid, kind text, subject text, operator_id text,
               provider_id text, summary text, count integer, href text, parked_at timestamptz, duplicate_of text,
               range_from timestamptz, range_to timestamptz)
      ON CONFLICT (kind, subject) WHERE cause_present DO NOTHING
      RETURNING item_id
    ), ${recordEvent('opened', `'opened'`, '$2')}
    SELECT item_id AS id FROM opened`,
};

/**
 * Updates each item whose transaction was parked after the item was opened: its summary then says so, and a SNOOZED
 * item becomes OPEN again. Closed items do not change. $1: causes of parked transactions as JSON.
 */
export const MARK_PARKED: Statement = {
  name: 'attention_mark_parked',
  text: `
    WITH changing AS (
      SELECT i.item_id, i.state, cause.summary, cause.parked_at
        FROM json_to_recordset($1::json) AS cause (subject text, summary text, parked_at timestamptz)
        JOIN attention_items i ON i.kind = 'transaction' AND i.subject = cause.subject AND i.cause_present
       WHERE i.state <> 'CLOSED' AND (i.parked_at IS NULL OR i.parked_at < cause.parked_at)
         FOR UPDATE OF i
    ), changed AS (
      UPDATE attention_items i
         SET summary = changing.summary, parked_at = changing.parked_at, state = 'OPEN', snoozed_until = NULL
        FROM changing WHERE i.item_id = changing.item_id
      RETURNING i.item_id, changing.state AS state_before
    ), woken AS (SELECT item_id FROM changed WHERE state_before = 'SNOOZED'),
    ${recordEvent('woken', `'woken'`, `'${PLATFORM_ACTOR}'`, 'NULL', `'its transaction was parked'`)}
    SELECT item_id AS id FROM changed`,
};

/**
 * Marks the causes of items as gone, and closes the items that are OPEN or SNOOZED. If a cause returns, it gets a new
 * item.
 */
const endOf = (condition: string) => `
    WITH gone AS (
      UPDATE attention_items
         SET cause_present = false, state = 'CLOSED', snoozed_until = NULL,
             closed_at = coalesce(closed_at, ${NOW}), closed_by = coalesce(closed_by, '${PLATFORM_ACTOR}'),
             close_reason = coalesce(close_reason, 'its cause is gone')
       WHERE cause_present AND ${condition}
      RETURNING item_id, closed_at
    ), closed AS (SELECT item_id FROM gone WHERE closed_at = ${NOW}),
    ${recordEvent('closed', `'closed'`, `'${PLATFORM_ACTOR}'`, 'NULL', `'its cause is gone'`)}
    SELECT item_id AS id FROM closed`;

export const END: Statement = { name: 'attention_end', text: endOf('item_id = ANY ($1::uuid[])') };

/**
 * Closes the items of grants that failed before they became duplicates. Such an item may be newer than the duplicate: an
 * instance may have read the failure just before the grant was resent. $1: the subjects of the duplicates.
 */
export const END_FAILURES: Statement = {
  name: 'attention_end_failures',
  text: endOf(`kind = 'grant' AND subject = ANY ($1::text[]) AND duplicate_of IS NULL`),
};

/** Closes the items of rounds whose cause is gone. $1: the subjects of the causes that are still present. */
export const END_OTHER_ROUNDS: Statement = {
  name: 'attention_end_other_rounds',
  text: endOf(`kind = 'round' AND subject <> ALL ($1::text[])`),
};

/**
 * Closes the items of findings that an earlier reconciliation recorded and a new one did not, if the new range contains
 * the earlier range. $1: the operator; $2, $3: the new range; $4: the subjects of the new findings.
 */
export const END_OTHER_FINDINGS: Statement = {
  name: 'attention_end_other_findings',
  text: endOf(`kind = 'reconciliation' AND operator_id = $1 AND range_from >= $2 AND range_to <= $3
         AND subject <> ALL ($4::text[])`),
};

/** Updates the item of open rounds with the subject $1. $2: the count; $3: the summary. */
export const COUNT_AGAIN: Statement = {
  name: 'attention_count_again',
  text: `
    UPDATE attention_items SET count = $2, summary = $3
     WHERE kind = 'round' AND subject = $1 AND cause_present AND (count, summary) IS DISTINCT FROM ($2, $3)`,
};

/** The items of kind $1 whose cause was present at the last check: the first $3 after the subject $2, by subject. */
export const PRESENT: Statement = {
  name: 'attention_present',
  text: `
    SELECT item_id AS id, subject FROM attention_items
     WHERE cause_present AND kind = $1 AND subject > $2 ORDER BY subject LIMIT $3`,
};

/** Claims a run of the scan $1. Over all instances, at most one claim succeeds every $2 seconds. */
export const CLAIM_SCAN: Statement = {
  name: 'attention_claim_scan',
  text: `
    INSERT INTO attention_scans AS s (name, ran_at) VALUES ($1, clock_timestamp())
    ON CONFLICT (name) DO UPDATE SET ran_at = clock_timestamp()
     WHERE s.ran_at <= clock_timestamp() - make_interval(secs => $2)
    RETURNING name`,
};

export const WAKE: Statement = {
  name: 'attention_wake',
  text: `
    WITH woken AS (
      UPDATE attention_items SET state = 'OPEN', snoozed_until = NULL
       WHERE state = 'SNOOZED' AND snoozed_until <= ${NOW}
      RETURNING item_id
    ), ${recordEvent('woken', `'woken'`, `'${PLATFORM_ACTOR}'`)}
    SELECT item_id AS id FROM woken`,
};

/** Changes an item that is not closed. $1: the item; $2 and $3: the actor and its name; $4: the new value. */
const changeOf = (name: string, assignments: string, event: string, text: string): Statement => ({
  name: `attention_${name}`,
  text: `
    WITH changed AS (
      UPDATE attention_items SET ${assignments} WHERE item_id = $1 AND state <> 'CLOSED' RETURNING item_id
    ), ${recordEvent('changed', event, '$2', '$3', text)}
    SELECT item_id AS id FROM changed`,
});

export const ASSIGN = changeOf(
  'assign',
  'assignee = $4::text',
  `CASE WHEN $4::text IS NULL THEN 'unassigned' ELSE 'assigned' END`,
  '$4::text',
);

export const CLOSE = changeOf(
  'close',
  `state = 'CLOSED', snoozed_until = NULL, closed_at = ${NOW}, closed_by = $2, closed_by_name = $3, close_reason = $4`,
  `'closed'`,
  '$4',
);

export const SNOOZE = changeOf(
  'snooze',
  `state = 'SNOOZED', snoozed_until = $4::timestamptz`,
  `'snoozed'`,
  `to_char($4::timestamptz AT TIME ZONE 'UTC', '"until "YYYY-MM-DD"T"HH24:MI:SS"Z"')`,
);

/** Adds a comment, even to a closed item. */
export const COMMENT: Statement = {
  name: 'attention_comment',
  text: `
    INSERT INTO attention_events (item_id, event, actor, actor_name, text, created_at)
    SELECT item_id, 'commented', $2, $3, $4, ${NOW} FROM attention_items WHERE item_id = $1
    RETURNING item_id AS id`,
};

export const FIND: Statement = {
  name: 'attention_find',
  text: `SELECT ${ITEM_COLUMNS} FROM attention_items t WHERE t.item_id = $1`,
};

/** The latest $2 events of item $1, oldest first. */
export const EVENTS: Statement = {
  name: 'attention_events',
  text: `
    SELECT * FROM (
      SELECT event, actor, actor_name AS "actorName", text, created_at AS at, event_no
        FROM attention_events WHERE item_id = $1 ORDER BY event_no DESC LIMIT $2) latest
     ORDER BY event_no`,
};

export const COUNT: Statement = {
  name: 'attention_count',
  text: `
    SELECT kind, state, count(*) AS value FROM attention_items
     WHERE state IN ('OPEN', 'SNOOZED') GROUP BY kind, state`,
};
