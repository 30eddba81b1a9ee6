import { named, type Statement } from '../database/statement.js';

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
 * A CTE that deletes the earlier event `updated` of each item of the CTE `from`, which then gets a new one. The live view
 * finds a changed item by the number of its latest event, so an item whose count changes often needs only one of them.
 */
const forgetUpdate = (from: string) => `
  forgotten AS (DELETE FROM attention_events e USING ${from} c WHERE e.item_id = c.item_id AND e.event = 'updated')`;

/**
 * Opens an item for each cause that has none. As long as a cause is present, even its closed item prevents a new one.
 */
export const OPEN = named(
  'attention_open',
  `
    WITH opened AS (
      INSERT INTO attention_items (item_id, kind, subject, state, operator_id, provider_id, summary, count, href,
                                   parked_at, duplicate_of, range_from, range_to, created_at)
      SELECT gen_random_uuid(), kind, subject, 'OPEN', "operatorId", "providerId", summary, count, href, "parkedAt",
             "duplicateOf", (range ->> 'from')::timestamptz, (range ->> 'to')::timestamptz, ${NOW}
        FROM json_to_recordset(:causes::json) AS cause (kind text, subject text, "operatorId" text, "providerId" text,
               summary text, count integer, href text, "parkedAt" timestamptz, "duplicateOf" text, range json)
      ON CONFLICT (kind, subject) WHERE cause_present DO NOTHING
      RETURNING item_id
    ), ${recordEvent('opened', `'opened'`, ':by')}
    SELECT item_id AS id FROM opened`,
);

/**
 * Updates each item whose transaction was parked after the item was opened: its summary then says so, and a SNOOZED
 * item becomes OPEN again. Closed items do not change.
 */
export const MARK_PARKED = named(
  'attention_mark_parked',
  `
    WITH changing AS (
      SELECT i.item_id, i.state, cause.summary, cause."parkedAt" AS parked_at
        FROM json_to_recordset(:causes::json) AS cause (subject text, summary text, "parkedAt" timestamptz)
        JOIN attention_items i ON i.kind = 'transaction' AND i.subject = cause.subject AND i.cause_present
       WHERE i.state <> 'CLOSED' AND (i.parked_at IS NULL OR i.parked_at < cause."parkedAt")
         FOR UPDATE OF i
    ), changed AS (
      UPDATE attention_items i
         SET summary = changing.summary, parked_at = changing.parked_at, state = 'OPEN', snoozed_until = NULL
        FROM changing WHERE i.item_id = changing.item_id
      RETURNING i.item_id, changing.state AS state_before
    ), ${forgetUpdate('changed')},
    ${recordEvent(
      'changed',
      `CASE state_before WHEN 'SNOOZED' THEN 'woken' ELSE 'updated' END`,
      `'${PLATFORM_ACTOR}'`,
      'NULL',
      `'its transaction was parked'`,
    )}
    SELECT item_id AS id FROM changed`,
);

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

export const END = named('attention_end', endOf('item_id = ANY (:ids::uuid[])'));

/** Closes a provider's items of rounds whose cause is gone. `subjects` are those of the causes that are still present. */
export const END_OTHER_ROUNDS = named(
  'attention_end_other_rounds',
  endOf(`kind = 'round' AND provider_id = :providerId AND subject <> ALL (:subjects::text[])`),
);

/**
 * Closes the items of findings that an earlier reconciliation recorded and a new one did not, if the new range contains
 * the earlier range. `subjects` are those of the new findings.
 */
export const END_OTHER_FINDINGS = named(
  'attention_end_other_findings',
  endOf(`kind = 'reconciliation' AND operator_id = :operatorId AND range_from >= :from AND range_to <= :to
         AND subject <> ALL (:subjects::text[])`),
);

/** Updates the item of open rounds, or of the grants of a batch. */
export const COUNT_AGAIN = named(
  'attention_count_again',
  `
    WITH changed AS (
      UPDATE attention_items SET count = :count, summary = :summary
       WHERE kind = :kind AND subject = :subject AND cause_present
         AND (count, summary) IS DISTINCT FROM (:count, :summary)
      RETURNING item_id
    ), ${forgetUpdate('changed')}, ${recordEvent('changed', `'updated'`, `'${PLATFORM_ACTOR}'`)}
    SELECT item_id AS id FROM changed`,
);

/** The next items whose cause was present at the last check, by subject. */
export const PRESENT = named(
  'attention_present',
  `
    SELECT item_id AS id, subject FROM attention_items
     WHERE cause_present AND kind = :kind AND subject > :after ORDER BY subject LIMIT :limit`,
);

/**
 * Condition for a scan that ran within that many seconds. A time in the future does not count: the database's clock was
 * set back, or that of a new primary is behind.
 */
const ranWithin = (seconds: string) =>
  `ran_at BETWEEN clock_timestamp() - make_interval(secs => ${seconds}) AND clock_timestamp()`;

/**
 * Claims a run of a scan. Over all instances, at most one claim succeeds in that many seconds; other seconds apply to the
 * instance that made the latest claim, `ownClaim`.
 */
export const CLAIM_SCAN = named(
  'attention_claim_scan',
  `
    INSERT INTO attention_scans AS s (name, ran_at) VALUES (:name, clock_timestamp())
    ON CONFLICT (name) DO UPDATE SET ran_at = clock_timestamp()
     WHERE NOT s.${ranWithin('CASE WHEN s.ran_at = :ownClaim::timestamptz THEN :ownSeconds::double precision ELSE :seconds END')}
    RETURNING ran_at::text AS claim`,
);

export const IS_SCAN_DUE = named(
  'attention_is_scan_due',
  `
    SELECT NOT EXISTS (SELECT FROM attention_scans
                        WHERE name = :name AND ${ranWithin(':seconds')}) AS due`,
);

export const WAKE = named(
  'attention_wake',
  `
    WITH woken AS (
      UPDATE attention_items SET state = 'OPEN', snoozed_until = NULL
       WHERE state = 'SNOOZED' AND snoozed_until <= ${NOW}
      RETURNING item_id
    ), ${recordEvent('woken', `'woken'`, `'${PLATFORM_ACTOR}'`)}
    SELECT item_id AS id FROM woken`,
);

const changeOf = (name: string, assignments: string, event: string, text: string) =>
  named(
    `attention_${name}`,
    `
    WITH changed AS (
      UPDATE attention_items SET ${assignments} WHERE item_id = :id AND state <> 'CLOSED' RETURNING item_id
    ), ${recordEvent('changed', event, ':actor', ':actorName', text)}
    SELECT item_id AS id FROM changed`,
  );

export const CHANGES = {
  assign: changeOf(
    'assign',
    'assignee = :value::text',
    `CASE WHEN :value::text IS NULL THEN 'unassigned' ELSE 'assigned' END`,
    ':value::text',
  ),
  close: changeOf(
    'close',
    `state = 'CLOSED', snoozed_until = NULL, closed_at = ${NOW}, closed_by = :actor, closed_by_name = :actorName,
       close_reason = :value`,
    `'closed'`,
    ':value',
  ),
  snooze: changeOf(
    'snooze',
    `state = 'SNOOZED', snoozed_until = :value::timestamptz`,
    `'snoozed'`,
    `to_char(:value::timestamptz AT TIME ZONE 'UTC', '"until "YYYY-MM-DD"T"HH24:MI:SS"Z"')`,
  ),
  /** Adds a comment, even to a closed item. */
  comment: named(
    'attention_comment',
    `
    INSERT INTO attention_events (item_id, event, actor, actor_name, text, created_at)
    SELECT item_id, 'commented', :actor, :actorName, :value, ${NOW} FROM attention_items WHERE item_id = :id
    RETURNING item_id AS id`,
  ),
} as const satisfies Record<string, Statement>;

export const FIND = named(
  'attention_find',
  `SELECT ${ITEM_COLUMNS} FROM attention_items t WHERE t.item_id = :id`,
);

/** The latest events of an item, oldest first, without `updated`, which is only for the live view. */
export const EVENTS = named(
  'attention_events',
  `
    SELECT latest.created_at AS at, latest.event, latest.actor AS by, latest.actor_name AS "byName", latest.text FROM (
      SELECT event, actor, actor_name, text, created_at, event_no
        FROM attention_events WHERE item_id = :id AND event <> 'updated' ORDER BY event_no DESC LIMIT :limit) latest
     ORDER BY event_no`,
);

/** The number of the latest event that is older than `seconds`; 0 if there is none. Reads the newer ones, too. */
export const LATEST_EVENT = named(
  'attention_latest_event',
  `
    SELECT coalesce((SELECT event_no FROM attention_events
                      WHERE created_at <= ${NOW} - make_interval(secs => :seconds)
                      ORDER BY event_no DESC LIMIT 1), 0) AS "eventNo"`,
);

/** The items of further events in the order of their numbers, leaving out the events in `seen`. */
export const ITEMS_OF_EVENTS = named(
  'attention_items_of_events',
  `
    SELECT e.event_no AS "eventNo", ${ITEM_COLUMNS}
      FROM (SELECT event_no, item_id FROM attention_events
             WHERE event_no > :after AND event_no <> ALL (:seen::bigint[]) ORDER BY event_no LIMIT :limit) e
      JOIN attention_items t ON t.item_id = e.item_id
     ORDER BY e.event_no`,
);

export const COUNT = named(
  'attention_count',
  `
    SELECT kind, state, count(*) AS value FROM attention_items
     WHERE state IN ('OPEN', 'SNOOZED') GROUP BY kind, state`,
);
