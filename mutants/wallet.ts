import type { SqlMutant } from './mutant.js';

const TRANSACTION = 'src/wallet/transaction.sql.ts';
const CLAIMS = 'src/wallet/claim.sql.ts';
const SETTLEMENTS = 'src/wallet/settlement.sql.ts';
const FRESH_CLAIM = 'src/wallet/fresh-claim.sql.ts';
const UNDECIDED = 'src/wallet/resolving/undecided.store.ts';
const RETRY_SCHEDULE = 'src/wallet/resolving/retry-schedule.ts';

const CONDITIONS = 'test/races/conditions.test.ts';
const CONTRACT = 'test/contract/transaction.test.ts';
const SETTLEMENT = 'test/contract/settlement.test.ts';
const FRESH = 'test/rules/fresh-claim.test.ts';
const RESOLVER = 'test/desk/resolver.long.test.ts';
const SETTLE = 'test/desk/settle.test.ts';

export const WALLET_MUTANTS: readonly SqlMutant[] = [
  {
    name: 'load-game-of-another-provider',
    file: TRANSACTION,
    text: `(g.status = 'ACTIVE' AND g.provider_id = s.provider_id) AS "gameActive"`,
    replacement: `g.status = 'ACTIVE' AS "gameActive"`,
    tests: [SETTLEMENT],
    harm: 'A session takes BETs on a game that now belongs to another provider.',
  },
  {
    name: 'load-rollback-timed-out',
    file: TRANSACTION,
    text: `r.state IN ('PENDING', 'TIMED_OUT')) AS "rollbackUndecided"`,
    replacement: `r.state = 'PENDING') AS "rollbackUndecided"`,
    tests: [CONTRACT],
    harm: 'A BET is replayed as APPROVED while a TIMED_OUT ROLLBACK of it may have been booked.',
  },
  {
    name: 'load-rollback-of-any-provider',
    file: TRANSACTION,
    text: `r.provider_id = t.provider_id AND r.original_transaction_id`,
    replacement: `r.original_transaction_id`,
    tests: [CONTRACT],
    harm: 'An undecided ROLLBACK of another provider blocks a BET with the same id.',
  },
  {
    name: 'load-rollback-of-any-kind',
    file: TRANSACTION,
    text: `AND r.kind = 'ROLLBACK' AND r.state IN`,
    replacement: `AND r.state IN`,
    tests: [CONTRACT],
    harm: 'An undecided WIN that names its BET blocks the replay of the BET.',
  },
  {
    name: 'load-bet-being-rolled-back-stands',
    file: TRANSACTION,
    text: `t.kind = 'BET' AND t.state = 'APPROVED' AND t.rollback_id IS NULL`,
    replacement: `t.kind = 'BET' AND t.state = 'APPROVED'`,
    tests: [CONTRACT],
    harm: 'A WIN is paid on a BET that is being refunded.',
  },
  {
    name: 'load-win-timed-out',
    file: TRANSACTION,
    text: `AND t.state IN ('PENDING', 'TIMED_OUT')), false) AS "winUndecided"`,
    replacement: `AND t.state = 'PENDING'), false) AS "winUndecided"`,
    tests: [CONTRACT],
    harm: 'A BET is refunded although a TIMED_OUT WIN of its round may have been paid.',
  },
  {
    name: 'load-declined-bet-of-session',
    file: TRANSACTION,
    text: `t.kind = 'BET' AND t.state <> 'DECLINED' AND t.session_id`,
    replacement: `t.kind = 'BET' AND t.session_id`,
    tests: [SETTLEMENT],
    harm: 'A DECLINED BET permits a late WIN after the end of the session.',
  },
  {
    name: 'load-bet-of-any-session',
    file: TRANSACTION,
    text: ` AND t.session_id = s."sessionId"), false)`,
    replacement: `), false)`,
    tests: [SETTLEMENT],
    harm: 'A BET of another session permits a late WIN after the end of the session.',
  },
  {
    name: 'load-round-of-any-mode',
    file: TRANSACTION,
    text: ` AND t.operator_id = s."operatorId" AND t.mode = s.mode\``,
    replacement: ` AND t.operator_id = s."operatorId"\``,
    tests: [CONTRACT],
    harm: 'A DEMO WIN settles the round of real money with the same id.',
  },
  {
    name: 'load-round-of-any-operator',
    file: TRANSACTION,
    text: ` AND t.operator_id = s."operatorId" AND t.mode = s.mode\``,
    replacement: ` AND t.mode = s.mode\``,
    tests: [CONTRACT],
    harm: 'The round of a player with the same name at another operator decides a WIN.',
  },
  {
    name: 'load-round-of-any-game',
    file: TRANSACTION,
    text: `
     AND t.game_id = a.game_id AND t.operator_id`,
    replacement: `
     AND t.operator_id`,
    tests: [CONTRACT],
    harm: 'A round of another game decides a WIN.',
  },
  {
    name: 'load-version-of-any-mode',
    file: TRANSACTION,
    text: ' AND r.mode = s.mode), 0)',
    replacement: '), 0)',
    tests: [CONTRACT],
    harm: 'A DEMO round with the same id fails or blocks the transactions of real money.',
  },
  {
    name: 'settling-win-without-kind',
    file: TRANSACTION,
    text: "coalesce(${table}.win_kind, '') NOT IN",
    replacement: '${table}.win_kind NOT IN',
    tests: [CONTRACT],
    harm: 'A BET is refunded although a WIN without a winKind has been paid: NULL NOT IN (…) is not true.',
  },
  {
    name: 'move-round-of-any-version',
    file: CLAIMS,
    text: 'DO UPDATE SET version = excluded.version WHERE r.version = excluded.version - 1',
    replacement: 'DO UPDATE SET version = excluded.version',
    tests: [CONDITIONS],
    harm: 'A WIN and a ROLLBACK that read the same round are both booked.',
  },
  {
    name: 'claim-win-without-round',
    file: CLAIMS,
    text: ' WHERE (${ROUND_KEY}, a.round_version + 1) IN (SELECT * FROM round)',
    replacement: '',
    tests: [CONDITIONS],
    harm: 'A WIN is claimed although a ROLLBACK has changed its round.',
  },
  {
    name: 'claim-taken-id-fails',
    file: CLAIMS,
    text: `
    FROM (\${items}) a
  ON CONFLICT DO NOTHING`,
    replacement: `
    FROM (\${items}) a`,
    tests: [CONDITIONS],
    harm: 'A ROLLBACK whose id is taken ends in an internal error.',
  },
  {
    name: 'claim-adjustment-twice-fails',
    file: CLAIMS,
    text: `make_interval(secs => :leaseSeconds))
    ON CONFLICT DO NOTHING`,
    replacement: 'make_interval(secs => :leaseSeconds))',
    tests: ['test/desk/adjustments.test.ts'],
    harm: 'An adjustment that is requested twice at once ends in an internal error.',
  },
  {
    name: 'mark-target-of-any-attempt',
    file: CLAIMS,
    text: `AND attempt = :targetAttempt AND (state = 'APPROVED')`,
    replacement: `AND (state = 'APPROVED')`,
    tests: [CONDITIONS],
    harm: 'A ROLLBACK reverses a BET that has been sent again since it was read.',
  },
  {
    name: 'mark-target-twice',
    file: CLAIMS,
    text: `= :targetApproved AND rollback_id IS NULL`,
    replacement: `= :targetApproved`,
    tests: [CONDITIONS],
    harm: 'Two ROLLBACKs refund one BET.',
  },
  {
    name: 'mark-target-approved-since',
    file: CLAIMS,
    text: ` AND (state = 'APPROVED') = :targetApproved`,
    replacement: '',
    tests: [CONDITIONS],
    harm: 'The platform refunds a BET whose approval the provider has received.',
  },
  {
    name: 'mark-target-in-flight',
    file: CLAIMS,
    text: `(state IN ('APPROVED', 'TIMED_OUT') OR (state = 'PENDING' AND lease_until <= clock_timestamp()))
    RETURNING attempt`,
    replacement: `state IN ('APPROVED', 'TIMED_OUT', 'PENDING')
    RETURNING attempt`,
    tests: [CONDITIONS],
    harm: 'A BET is refunded while the operator is booking it.',
  },
  {
    name: 'mark-declined-target',
    file: CLAIMS,
    text: `(state IN ('APPROVED', 'TIMED_OUT') OR (state`,
    replacement: `(state IN ('APPROVED', 'DECLINED', 'TIMED_OUT') OR (state`,
    tests: [CONDITIONS],
    harm: 'A stake that was never taken is refunded.',
  },
  {
    name: 'mark-timed-out-target-never',
    file: CLAIMS,
    text: `(state IN ('APPROVED', 'TIMED_OUT') OR (state`,
    replacement: `(state = 'APPROVED' OR (state`,
    tests: [CONTRACT],
    harm: 'A BET whose outcome is unknown can never be refunded.',
  },
  {
    name: 'mark-tombstone-twice',
    file: CLAIMS,
    text: `kind IS NULL
       AND rollback_id IS NULL`,
    replacement: 'kind IS NULL',
    tests: [CONDITIONS],
    harm: 'Two ROLLBACKs of an unknown BET are sent to the operator.',
  },
  {
    name: 'place-tombstone-over-claim',
    file: CLAIMS,
    text: `:roundId, 0, :transactionId)
    ON CONFLICT DO NOTHING`,
    replacement: ':roundId, 0, :transactionId)',
    tests: [CONDITIONS],
    harm: 'A ROLLBACK that races its BET ends in an internal error.',
  },
  {
    name: 'take-over-during-rollback',
    file: CLAIMS,
    text: 'AND t.attempt = :attempt AND t.rollback_id IS NULL',
    replacement: 'AND t.attempt = :attempt',
    tests: [CONDITIONS],
    harm: 'A BET is sent again while its ROLLBACK is under way, so that the stake is lost.',
  },
  {
    name: 'take-over-live-lease',
    file: CLAIMS,
    text: `AND \${mayBeTakenOver('t')}
    RETURNING \${CLAIMED}`,
    replacement: `AND t.state IN ('PENDING', 'TIMED_OUT')
    RETURNING \${CLAIMED}`,
    tests: [CONDITIONS],
    harm: 'Two attempts of one transaction call the operator at the same time.',
  },
  {
    name: 'take-over-without-new-attempt',
    file: CLAIMS,
    text: 'attempt = t.attempt + 1, updated_at',
    replacement: 'updated_at',
    tests: [CONTRACT],
    harm: 'An attempt that was taken over can still settle, so that two outcomes compete.',
  },
  {
    name: 'retry-any-attempt',
    file: CLAIMS,
    text: 'AND t.attempt = :attempt AND t.rollback_id IS NULL',
    replacement: 'AND t.rollback_id IS NULL',
    tests: [CONDITIONS],
    harm: 'A retry that was decided on an outdated reading sends the transaction again.',
  },
  {
    name: 'balance-of-any-currency',
    file: TRANSACTION,
    text: 'recent.currency = :currency AND recent.response_body',
    replacement: 'recent.response_body',
    tests: [SETTLE],
    harm: 'A transaction that is settled by hand shows the balance of another currency.',
  },
  {
    name: 'balance-of-any-operator',
    file: TRANSACTION,
    text: 'named.operator_id = :operatorId AND named.mode',
    replacement: 'named.mode',
    tests: [SETTLE],
    harm: 'A transaction that is settled by hand shows the balance at another operator.',
  },
  {
    name: 'balance-of-any-mode',
    file: TRANSACTION,
    text: ' AND named.mode = :mode',
    replacement: '',
    tests: [SETTLE],
    harm: 'A transaction that is settled by hand shows the balance of play money.',
  },
  {
    name: 'balance-of-changed-row',
    file: TRANSACTION,
    text: "ORDER BY ${endOf('recent.attempts -> -1')} DESC",
    replacement: 'ORDER BY recent.updated_at DESC',
    tests: [SETTLE],
    harm: 'A transaction that is settled by hand shows the balance before a ROLLBACK.',
  },
  {
    name: 'settle-any-attempt',
    file: SETTLEMENTS,
    text: `t.transaction_id = a.transaction_id AND t.attempt = a.attempt
     AND t.state = 'PENDING'`,
    replacement: `t.transaction_id = a.transaction_id
     AND t.state = 'PENDING'`,
    tests: [CONTRACT],
    harm: 'An attempt that was taken over settles over the attempt under way.',
  },
  {
    name: 'settle-decided',
    file: SETTLEMENTS,
    text: `
     AND t.state = 'PENDING' AND t.rollback_id IS NULL\``,
    replacement: `
     AND t.rollback_id IS NULL\``,
    tests: [CONDITIONS],
    harm: 'An outcome is replaced by a later one.',
  },
  {
    name: 'settle-during-rollback',
    file: SETTLEMENTS,
    text: `
     AND t.state = 'PENDING' AND t.rollback_id IS NULL\``,
    replacement: `
     AND t.state = 'PENDING'\``,
    tests: [CONTRACT],
    harm: 'A BET becomes APPROVED while its ROLLBACK is under way.',
  },
  {
    name: 'settle-at-any-provider',
    file: SETTLEMENTS,
    text: `
   WHERE t.provider_id = a.provider_id AND t.transaction_id = a.transaction_id AND t.attempt = a.attempt
     AND`,
    replacement: `
   WHERE t.transaction_id = a.transaction_id AND t.attempt = a.attempt
     AND`,
    tests: [CONTRACT],
    harm: 'The answer to one provider settles the transaction of another with the same id.',
  },
  {
    name: 'rollback-of-unmarked-target',
    file: SETTLEMENTS,
    text: `
         AND t.rollback_id = settled.transaction_id AND settled.state <> 'TIMED_OUT'`,
    replacement: `
         AND settled.state <> 'TIMED_OUT'`,
    tests: [CONTRACT],
    harm: 'A ROLLBACK that moved no money makes its target ROLLED_BACK.',
  },
  {
    name: 'rollback-of-target-at-any-provider',
    file: SETTLEMENTS,
    text: 'WHERE t.provider_id = settled.provider_id AND t.transaction_id = settled.original_transaction_id',
    replacement: 'WHERE t.transaction_id = settled.original_transaction_id',
    tests: [CONTRACT],
    harm: 'A ROLLBACK of one provider makes the BET of another with the same ids ROLLED_BACK.',
  },
  {
    name: 'declined-rollback-keeps-mark',
    file: SETTLEMENTS,
    text: `
             rollback_id = CASE WHEN settled.state = 'DECLINED' THEN NULL ELSE t.rollback_id END,`,
    replacement: '',
    tests: [CONTRACT],
    harm: 'After a DECLINED ROLLBACK, its BET can neither be retried nor rolled back.',
  },
  {
    name: 'reversed-amount-of-any-target',
    file: SETTLEMENTS,
    text: `
                      AND target.response_body IS NOT NULL`,
    replacement: '',
    tests: ['test/live/overview.long.test.ts'],
    harm: 'The live amounts subtract stakes that were never taken.',
  },
  {
    name: 'fresh-claim-of-another-provider',
    file: FRESH_CLAIM,
    text: 's."providerId" = a.provider_id AND s."endedSecondsAgo"',
    replacement: 's."endedSecondsAgo"',
    tests: [FRESH],
    harm: 'A provider books in the session of another provider.',
  },
  {
    name: 'fresh-claim-after-session',
    file: FRESH_CLAIM,
    text: 'a.provider_id AND s."endedSecondsAgo" IS NULL',
    replacement: 'a.provider_id',
    tests: [FRESH],
    harm: 'A BET is taken after its session was revoked.',
  },
  {
    name: 'fresh-claim-on-rolled-back-bet',
    file: FRESH_CLAIM,
    text: `t.state <> 'DECLINED'`,
    replacement: `t.state NOT IN ('DECLINED', 'ROLLED_BACK')`,
    tests: [FRESH],
    harm: 'A WIN is paid on a stake that was refunded.',
  },
  {
    name: 'fresh-claim-without-kind',
    file: FRESH_CLAIM,
    text: `a.win_kind <> 'GAME'`,
    replacement: `a.win_kind IS DISTINCT FROM 'GAME'`,
    tests: [FRESH],
    harm: 'A WIN without a winKind needs no BET.',
  },
  {
    name: 'due-without-wait',
    file: UNDECIDED,
    text: `
       AND t.updated_at <= statement_timestamp() - \${RETRY_WAIT}`,
    replacement: '',
    tests: [RESOLVER],
    harm: 'The resolver calls an operator that is down every minute for a day.',
  },
  {
    name: 'park-during-rollback',
    file: UNDECIDED,
    text: ' AND parked_at IS NULL AND rollback_id IS NULL',
    replacement: ' AND parked_at IS NULL',
    tests: [CONDITIONS],
    harm: 'A BET is given to a person while its ROLLBACK is under way.',
  },
  {
    name: 'parked-after-more-than-a-day',
    file: RETRY_SCHEDULE,
    text: `>= interval '24 hours'`,
    replacement: `> interval '24 hours'`,
    tests: [RESOLVER],
    harm: 'A transaction is sent once more although 24 hours are over.',
  },
  {
    name: 'adjustments-signed',
    file: 'src/wallet/used-adjustments.sql.ts',
    text: 'SELECT abs(t.amount_minor) AS amount',
    replacement: 'SELECT t.amount_minor AS amount',
    tests: ['test/limits/limits.test.ts'],
    harm: 'A debit frees the daily limit for credits.',
  },
  {
    name: 'adjustments-undecided',
    file: 'src/wallet/used-adjustments.sql.ts',
    text: `t.state <> 'DECLINED'`,
    replacement: `t.state = 'APPROVED'`,
    tests: ['test/limits/limits.test.ts', 'test/approvals/approvals.test.ts'],
    harm: 'Adjustments whose outcome is not known yet exceed the daily limit together.',
  },
  {
    name: 'adjustments-undecided-for-a-day',
    file: 'src/wallet/used-adjustments.sql.ts',
    text: `ELSE 'infinity'::timestamptz`,
    replacement: 'ELSE t.created_at',
    tests: ['test/limits/limits.test.ts'],
    harm: 'An adjustment that is undecided for a day frees the daily limit, and can still be booked.',
  },
  {
    name: 'adjustments-by-request',
    file: 'src/wallet/used-adjustments.sql.ts',
    text: 'THEN t.updated_at',
    replacement: 'THEN t.created_at',
    tests: ['test/limits/limits.test.ts'],
    harm: 'An adjustment that is booked a day after its request does not use up the daily limit.',
  },
  {
    name: 'adjustments-of-any-currency',
    file: 'src/wallet/used-adjustments.sql.ts',
    text: ` AND t.currency = l.currency`,
    replacement: '',
    tests: ['test/limits/limits.test.ts'],
    harm: 'Adjustments in yen use up the daily limit in euros.',
  },
  {
    name: 'adjustments-of-any-operator',
    file: 'src/wallet/used-adjustments.sql.ts',
    text: `t.operator_id = l.operator_id AND t.provider_id`,
    replacement: `t.provider_id`,
    tests: ['test/limits/limits.test.ts'],
    harm: "Another operator's adjustments use up the daily limit.",
  },
];
