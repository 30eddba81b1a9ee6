import type { SqlMutant } from './mutant.js';

const GRANT = 'src/free-spins/grants/grant.sql.ts';
const BATCH = 'src/free-spins/batches/batch.store.ts';
const QUEUE = 'src/free-spins/queue/queue.store.ts';
const WINNINGS = 'src/free-spins/winnings/winnings.store.ts';

const GRANTS = 'test/free-spins/grants.test.ts';
const EXPIRY = 'test/free-spins/expiry.test.ts';
const CANCEL = 'test/free-spins/status-and-cancel.test.ts';
const DUPLICATES = 'test/free-spins/duplicates.long.test.ts';
const BATCHES = 'test/free-spins/batches.long.test.ts';
const BATCH_OPERATIONS = 'test/free-spins/batch-operations.long.test.ts';
const DAILY_LIMIT = 'test/free-spins/daily-limit.long.test.ts';
const LIMITS = 'test/limits/limits.test.ts';
const WINS = 'test/free-spins/winnings.test.ts';
const SHARED_REFERENCES = 'test/free-spins/shared-references.long.test.ts';
const OWN_FAILURES = 'test/free-spins/own-failures.long.test.ts';
const LOST_OUTCOMES = 'test/free-spins/lost-outcomes.long.test.ts';
const FAIR_TURNS = 'test/free-spins/fair-turns.long.test.ts';

export const FREE_SPINS_MUTANTS: readonly SqlMutant[] = [
  {
    name: 'grant-twice-fails',
    file: GRANT,
    text: `'PENDING', 1, \${LEASE_END})
   ON CONFLICT (request_ref) DO NOTHING`,
    replacement: `'PENDING', 1, \${LEASE_END})`,
    tests: [GRANTS],
    harm: 'A grant that is requested twice at once ends in an internal error.',
  },
  {
    name: 'grant-claimed-twice',
    file: GRANT,
    text: `AND \${UNSENT}
   RETURNING`,
    replacement: `AND state = 'PENDING'
   RETURNING`,
    tests: [GRANTS],
    harm: 'An approved grant is sent by its approval and from the queue.',
  },
  {
    name: 'grant-resent-in-any-state',
    file: GRANT,
    text: "AND state = 'FAILED' AND ${NOT_EXPIRED}",
    replacement: 'AND ${NOT_EXPIRED}',
    tests: [GRANTS],
    harm: 'Concurrent resends send a grant several times.',
  },
  {
    name: 'grant-resent-still-cancelled',
    file: GRANT,
    text: 'lease_until = ${LEASE_END}, cancel_due = false,',
    replacement: 'lease_until = ${LEASE_END},',
    tests: [BATCH_OPERATIONS],
    harm: 'A grant that a person has sent again is cancelled at once.',
  },
  {
    name: 'void-of-known-failure',
    file: GRANT,
    text: `state = 'FAILED' AND outcome_unknown
   RETURNING`,
    replacement: `state = 'FAILED'
   RETURNING`,
    tests: [BATCH_OPERATIONS],
    harm: 'A grant that certainly failed is sent again only to be cancelled.',
  },
  {
    name: 'granted-after-failure-lost',
    file: GRANT,
    text: `state IN ('PENDING', 'FAILED')
   RETURNING`,
    replacement: `state = 'PENDING'
   RETURNING`,
    tests: [GRANTS],
    harm: 'A grant that the provider booked late stays FAILED and is sent again.',
  },
  {
    name: 'duplicate-of-other-player',
    file: GRANT,
    text: `AND o.operator_id = g.operator_id AND o.player_ref = g.player_ref`,
    replacement: `AND o.operator_id = g.operator_id`,
    tests: [DUPLICATES],
    harm: 'A grant is a duplicate of the grant of another player.',
  },
  {
    name: 'duplicate-of-not-completed',
    file: GRANT,
    text: `o.completed IS NOT TRUE AND o.duplicate_of IS NULL`,
    replacement: `NOT o.completed AND o.duplicate_of IS NULL`,
    tests: [DUPLICATES],
    harm: 'A duplicate of a grant without a status is not found: NOT NULL is not true.',
  },
  {
    name: 'duplicates-without-lock',
    file: GRANT,
    text: 'SELECT pg_advisory_xact_lock(${EXTERNAL_REF_LOCKS}',
    replacement: 'SELECT pg_try_advisory_xact_lock(${EXTERNAL_REF_LOCKS}',
    tests: [DUPLICATES],
    harm: 'Of two grants with one reference that are answered at once, neither is a duplicate.',
  },
  {
    name: 'failure-of-earlier-attempt',
    file: GRANT,
    text: 'WHERE request_ref = :requestRef AND attempt = :attempt AND',
    replacement: 'WHERE request_ref = :requestRef AND',
    tests: [GRANTS],
    harm: 'The late failure of an attempt ends the attempt under way.',
  },
  {
    name: 'failure-forgets-earlier-attempt',
    file: GRANT,
    text: 'outcome_unknown = :outcomeUnknown OR (outcome_unknown AND attempt > 1 AND NOT :refused)',
    replacement: 'outcome_unknown = :outcomeUnknown',
    tests: [GRANTS],
    harm: 'A grant that an earlier attempt may have booked counts as certainly failed.',
  },
  {
    name: 'unsent-after-batch-cancel',
    file: GRANT,
    text: ' AND attempt = :attempt AND NOT cancel_due',
    replacement: ' AND attempt = :attempt',
    tests: [OWN_FAILURES],
    harm: 'A grant whose call could not be made is sent although its batch was cancelled meanwhile.',
  },
  {
    name: 'unclaim-of-later-attempt',
    file: GRANT,
    text: ' AND attempt = :attempt AND NOT cancel_due',
    replacement: ' AND NOT cancel_due',
    tests: [OWN_FAILURES],
    harm: 'A call that could not be made ends the claim of a later attempt, whose grant is then sent twice.',
  },
  {
    name: 'unclaim-frees-the-number',
    file: GRANT,
    text: `SET lease_until = NULL, updated_at = clock_timestamp()
    WHERE request_ref = :requestRef AND lease_until IS NOT NULL`,
    replacement: `SET attempt = attempt - 1, lease_until = NULL, updated_at = clock_timestamp()
    WHERE request_ref = :requestRef AND lease_until IS NOT NULL`,
    tests: [LOST_OUTCOMES],
    harm: 'A repeated write ends the claim of another instance, and the grant is sent twice.',
  },
  {
    name: 'failure-of-cancel-repeated',
    file: GRANT,
    text: `AND cancel_attempt = :cancelAttempt AND state = 'GRANTED'
      AND cancel_lease_until IS NOT NULL`,
    replacement: `AND cancel_attempt = :cancelAttempt AND state = 'GRANTED'`,
    tests: [LOST_OUTCOMES],
    harm: 'The repeated write of a failure ends a cancel that became due after it.',
  },
  {
    name: 'expired-lease-certainly-failed',
    file: GRANT,
    text: `failure_error = :error, outcome_unknown = true, lease_until`,
    replacement: `failure_error = :error, lease_until`,
    tests: [GRANTS],
    harm: 'A grant of a dead instance that may be booked counts as certainly failed.',
  },
  {
    name: 'expiry-of-completed',
    file: QUEUE,
    text: `AND completed IS NOT TRUE AND duplicate_of IS NULL AND NOT cancel_due`,
    replacement: `AND duplicate_of IS NULL AND NOT cancel_due`,
    tests: [EXPIRY],
    harm: 'The expiry of a completed grant cancels other spins with its reference.',
  },
  {
    name: 'completed-not-final',
    file: GRANT,
    text: 'completed = completed IS TRUE OR :completed,',
    replacement: 'completed = :completed,',
    tests: [EXPIRY],
    harm: 'A status that reports later spins with the reference lets the expiry of a completed grant cancel them.',
  },
  {
    name: 'spins-of-completed',
    file: GRANT,
    text: 'CASE WHEN completed THEN remaining_spins ELSE :remainingSpins END',
    replacement: ':remainingSpins',
    tests: [CANCEL],
    harm: 'A completed grant shows the remaining spins of a later one with its reference.',
  },
  {
    name: 'expiry-of-duplicate',
    file: QUEUE,
    text: `AND completed IS NOT TRUE AND duplicate_of IS NULL AND NOT cancel_due`,
    replacement: `AND completed IS NOT TRUE AND NOT cancel_due`,
    tests: [EXPIRY],
    harm: 'The expiry of a duplicate cancels the spins of the first grant.',
  },
  {
    name: 'cancel-during-cancel',
    file: GRANT,
    text: `AND \${HAS_NO_SUCCESSOR}
      AND (cancel_lease_until IS NULL OR cancel_lease_until <= clock_timestamp())
   RETURNING`,
    replacement: `AND \${HAS_NO_SUCCESSOR}
   RETURNING`,
    tests: [CANCEL],
    harm: 'Concurrent cancels of a grant are all sent.',
  },
  {
    name: 'unclaim-of-single-cancel',
    file: GRANT,
    text: `AND state = 'GRANTED' AND cancel_due AND cancel_attempt`,
    replacement: `AND state = 'GRANTED' AND cancel_attempt`,
    tests: [OWN_FAILURES],
    harm: 'The cancel of a single grant that could not be sent leaves no error, although no instance sends it again.',
  },
  {
    name: 'cancel-of-former-grant',
    file: GRANT,
    text: 'AND (cancel_due OR NOT :onlyDue) AND ${HAS_NO_SUCCESSOR}',
    replacement: 'AND (cancel_due OR NOT :onlyDue)',
    tests: [DUPLICATES],
    harm: 'The cancel of a completed grant voids the spins of a newer one with its reference.',
  },
  {
    name: 'void-cancels-resent-grant',
    file: GRANT,
    text: ' AND (cancel_due OR NOT :onlyDue)',
    replacement: '',
    tests: [BATCH_OPERATIONS],
    harm: 'A void whose instance was suspended cancels a grant that a person has sent again meanwhile.',
  },
  {
    name: 'due-cancel-of-former-grant',
    file: QUEUE,
    text: '${CANCEL_WAITS} AND NOT ${IS_MOOT}',
    replacement: '${CANCEL_WAITS}',
    tests: [DUPLICATES],
    harm: 'A cancel that became due long ago voids the spins of a newer grant with the same reference.',
  },
  {
    name: 'batch-cancel-lost',
    file: BATCH,
    text: 'cancel_attempt + CASE WHEN cancel_lease_until IS NULL THEN 0 ELSE 1 END',
    replacement: 'cancel_attempt',
    tests: [BATCH_OPERATIONS],
    harm: 'The failure of a single cancel ends that of the batch, which is never sent.',
  },
  {
    name: 'batch-cancel-beside-resend',
    file: BATCH,
    text: 'WHERE batch_id = :batchId FOR NO KEY UPDATE',
    replacement: 'WHERE batch_id = :batchId',
    tests: [BATCH_OPERATIONS],
    harm: 'The cancel of a batch leaves grants to be sent that a concurrent resend has queued.',
  },
  {
    name: 'moot-expiry-begun',
    file: QUEUE,
    text: `expiry = nullif(expiry, 'BEGUN')`,
    replacement: 'expiry = expiry',
    tests: [DUPLICATES],
    harm: 'The expiry of a completed grant counts as begun for ever.',
  },
  {
    name: 'cancel-of-live-duplicate',
    file: GRANT,
    text: ` AND o.request_ref IS DISTINCT FROM g.duplicate_of`,
    replacement: '',
    tests: [DUPLICATES],
    harm: 'A duplicate of a live grant cannot be cancelled.',
  },
  {
    name: 'batch-cancel-of-former-grant',
    file: BATCH,
    text: `AND NOT cancel_due AND \${HAS_NO_SUCCESSOR}`,
    replacement: `AND NOT cancel_due`,
    tests: [DUPLICATES],
    harm: 'The cancel of a batch voids the spins of newer grants with the references of its own.',
  },
  {
    name: 'cancel-failure-of-earlier-cancel',
    file: GRANT,
    text: `AND cancel_attempt = :cancelAttempt AND state = 'GRANTED'`,
    replacement: `AND state = 'GRANTED'`,
    tests: [CANCEL],
    harm: 'The late failure of a cancel ends the cancel under way.',
  },
  {
    name: 'stakes-of-unknown-outcome',
    file: GRANT,
    text: `AND (g.state <> 'FAILED' OR g.outcome_unknown)`,
    replacement: `AND g.state <> 'FAILED'`,
    tests: [LIMITS],
    harm: 'Grants that the provider may have booked do not count towards the daily limit.',
  },
  {
    name: 'stakes-by-creation',
    file: GRANT,
    text: 'coalesce(g.carried_out_at, g.created_at) >',
    replacement: 'g.created_at >',
    tests: [DAILY_LIMIT],
    harm: 'Old grants that are sent again exceed the daily limit.',
  },
  {
    name: 'stakes-of-any-operator',
    file: GRANT,
    text: 'g.operator_id = l.operator_id AND g.currency',
    replacement: 'g.currency',
    tests: [LIMITS],
    harm: "Another operator's grants use up the daily limit.",
  },
  {
    name: 'batch-twice-fails',
    file: BATCH,
    text: `
     ON CONFLICT (batch_ref) DO NOTHING`,
    replacement: '',
    tests: [BATCHES],
    harm: 'A batch that is requested twice at once ends in an internal error.',
  },
  {
    name: 'unsent-claimed-twice',
    file: QUEUE,
    text: `ORDER BY operator_id, grant_no LIMIT 1 FOR UPDATE SKIP LOCKED)`,
    replacement: `ORDER BY operator_id, grant_no LIMIT 1)`,
    tests: [BATCHES],
    harm: 'Two instances send the same grant.',
  },
  {
    name: 'unsent-expired-early',
    file: QUEUE,
    text: 'AND expires_at <= statement_timestamp()\n       ORDER BY',
    replacement: 'AND expires_at IS NOT NULL\n       ORDER BY',
    tests: [FAIR_TURNS],
    harm: 'A grant that waits to be sent fails long before it expires.',
  },
  {
    name: 'cancel-without-in-flight',
    file: BATCH,
    text: `(state IN ('PENDING', 'GRANTED') OR state`,
    replacement: `(state = 'GRANTED' OR state`,
    tests: [BATCH_OPERATIONS],
    harm: 'The cancel of a batch leaves spins live that are being granted.',
  },
  {
    name: 'resend-batch-of-maybe-booked',
    file: BATCH,
    text: '(NOT outcome_unknown OR :includeUnknown) AND',
    replacement: '(:includeUnknown IS NOT NULL) AND',
    tests: [BATCH_OPERATIONS],
    harm: 'Grants that may be live are sent again unasked.',
  },
  {
    name: 'resend-batch-does-not-count',
    file: BATCH,
    text: `
          carried_out_at = clock_timestamp(), updated_at`,
    replacement: `
          updated_at`,
    tests: [DAILY_LIMIT],
    harm: 'A batch that is sent again exceeds the daily limit.',
  },
  {
    name: 'resend-batch-still-cancelled',
    file: BATCH,
    text: 'failure_error = NULL, cancel_due = false, request_id',
    replacement: 'failure_error = NULL, request_id',
    tests: [BATCH_OPERATIONS],
    harm: 'A batch that a person has sent again is cancelled at once.',
  },
  {
    name: 'winnings-of-play-money',
    file: WINNINGS,
    text: ` AND t.state = 'APPROVED' AND t.mode = 'REAL'\``,
    replacement: ` AND t.state = 'APPROVED'\``,
    tests: [WINS],
    harm: 'Wins of play money count as winnings.',
  },
  {
    name: 'winnings-of-other-operator',
    file: WINNINGS,
    text: '(g.operator_id = t.operator_id AND g.player_ref = t.player_ref)',
    replacement: '(g.player_ref = t.player_ref)',
    tests: [WINS],
    harm: "A win of another operator's player of that name is not flagged.",
  },
  {
    name: 'winnings-of-other-players',
    file: WINNINGS,
    text: 'g.grant_no, t.*, false AS own',
    replacement: 'g.grant_no, t.*, true AS own',
    tests: [WINS, SHARED_REFERENCES],
    harm: 'The WINs of other players count as winnings of a grant that has their reference.',
  },
  {
    name: 'flagged-wins-counted-twice',
    file: WINNINGS,
    text: '= :requestRef AND NOT ${OF_PLAYER})',
    replacement: '= :requestRef)',
    tests: [WINS, SHARED_REFERENCES],
    harm: 'A grant shows twice as many flagged WINs of its player as there are.',
  },
];
