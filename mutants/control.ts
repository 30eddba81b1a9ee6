import type { SqlMutant } from './mutant.js';

const LIMIT = 'src/limits/limit.store.ts';
const APPROVAL = 'src/approvals/approval.store.ts';
const KEY = 'src/admin/key.store.ts';
const SESSION = 'src/session/session.store.ts';
const SESSION_END = 'src/session/session.sql.ts';
const REVOCATION = 'src/session/revocation.store.ts';
const NONCE = 'src/signature/nonce.store.ts';
const AUDIT = 'src/audit/audit.store.ts';
const RECONCILIATION = 'src/reconciliation/reconciliation.store.ts';
const ATTENTION = 'src/attention/attention.sql.ts';

const LIMITS = 'test/limits/limits.test.ts';
const LIMIT_CHANGES = 'test/limits/limit-changes.test.ts';
const APPROVALS = 'test/approvals/approvals.test.ts';
const SETTLEMENT = 'test/contract/settlement.test.ts';
const OWN_FAILURES = 'test/free-spins/own-failures.long.test.ts';
const CLOCKS = 'test/contract/clocks.test.ts';
const RECONCILED = 'test/reconciliation/reconciliation.long.test.ts';
const RECONCILED_OVER_HTTP = 'test/reconciliation/requests.long.test.ts';

/** Mutants of what watches and bounds the money: limits, approvals, sessions, nonces, the audit log, reconciliation. */
export const CONTROL_MUTANTS: readonly SqlMutant[] = [
  {
    name: 'limit-without-lock',
    file: LIMIT,
    text: 'SELECT pg_advisory_xact_lock(${LIMIT_LOCKS}',
    replacement: 'SELECT pg_try_advisory_xact_lock(${LIMIT_LOCKS}',
    tests: [LIMITS],
    harm: 'Concurrent actions exceed a daily limit of the installation together.',
  },
  {
    name: 'limit-of-any-currency',
    file: LIMIT,
    text: "'${DEFAULT_OPERATOR}') AND currency = :currency",
    replacement: "'${DEFAULT_OPERATOR}')",
    tests: [LIMITS],
    harm: 'A limit in yen bounds grants in euros.',
  },
  {
    name: 'limit-day-not-updated',
    file: LIMIT,
    text: 'max_adjustment_minor = :maxAdjustmentMinor, daily_minor = :dailyMinor, max_win_minor',
    replacement: 'max_adjustment_minor = :maxAdjustmentMinor, max_win_minor',
    tests: [LIMITS, LIMIT_CHANGES],
    harm: 'A lowered daily limit is answered, but not stored.',
  },
  {
    name: 'limit-equal-amounts-once',
    file: LIMIT,
    text: "amounts.join(' UNION ALL ')",
    replacement: "amounts.join(' UNION ')",
    tests: [LIMITS],
    harm: 'Equal amounts count once towards the daily limit.',
  },
  {
    name: 'approval-expires-decided',
    file: APPROVAL,
    text: `WHERE state = 'WAITING' AND expires_at <= statement_timestamp()`,
    replacement: 'WHERE expires_at <= statement_timestamp()',
    tests: [APPROVALS],
    harm: 'An approval that was carried out is shown as EXPIRED a day later.',
  },
  {
    name: 'approval-twice-fails',
    file: APPROVAL,
    text: `
    ON CONFLICT (kind, reference) WHERE state = 'WAITING' DO NOTHING`,
    replacement: '',
    tests: ['test/desk/settle.test.ts'],
    harm: 'An action that is requested twice at once ends in an internal error.',
  },
  {
    name: 'approval-decided-twice',
    file: APPROVAL,
    text: `AND state = 'WAITING' AND expires_at > clock_timestamp()`,
    replacement: `AND expires_at > clock_timestamp()`,
    tests: [APPROVALS],
    harm: 'A rejected action is approved and carried out.',
  },
  {
    name: 'approval-decided-after-expiry',
    file: APPROVAL,
    text: `AND state = 'WAITING' AND expires_at > clock_timestamp()`,
    replacement: `AND state = 'WAITING'`,
    tests: [APPROVALS],
    harm: 'An action that expires while it is decided is carried out.',
  },
  {
    name: 'approval-waiting-in-any-state',
    file: APPROVAL,
    text: `AND reference = :reference AND state = 'WAITING'\``,
    replacement: 'AND reference = :reference`',
    tests: [APPROVALS],
    harm: 'A rejected action can never be requested again.',
  },
  {
    name: 'approval-waiting-of-any-kind',
    file: APPROVAL,
    text: 'WHERE kind = :kind AND reference = :reference AND state',
    replacement: 'WHERE reference = :reference AND state',
    tests: [APPROVALS],
    harm: 'A grant and a batch with the same reference block each other.',
  },
  {
    name: 'key-made-by-indirectly',
    file: KEY,
    text: `
      UNION
     SELECT k.created_by FROM makers m JOIN admin_keys k ON m.created_by = 'key:' || k.id`,
    replacement: '',
    tests: [APPROVALS],
    harm: 'A person approves an action of their own with a key that a key of theirs created.',
  },
  {
    name: 'key-live-after-revocation',
    file: KEY,
    text: 'WHERE key_hash = :hash AND revoked_at IS NULL',
    replacement: 'WHERE key_hash = :hash',
    tests: ['test/admin/keys.test.ts'],
    harm: 'A revoked key still moves money.',
  },
  {
    name: 'session-live-after-revocation',
    file: SESSION_END,
    text: '`(${session}.revoked_at IS NOT NULL OR ${session}.expires_at <= statement_timestamp())`',
    replacement: '`(${session}.expires_at <= statement_timestamp())`',
    tests: [SETTLEMENT],
    harm: 'A revoked session takes BETs.',
  },
  {
    name: 'unclaim-of-later-revocation',
    file: REVOCATION,
    text: `AND sent AND delivered IS NULL AND lease_until = :lease::timestamptz`,
    replacement: `AND sent AND delivered IS NULL`,
    tests: [OWN_FAILURES],
    harm: 'A callback that could not be sent ends the claim of a later one, which is then sent twice.',
  },
  {
    name: 'claim-unsent-revocation-of-another',
    file: REVOCATION,
    text: "${firstUnsent(':providerId')} FOR UPDATE SKIP LOCKED)",
    replacement: "${firstUnsent(':providerId')})",
    tests: ['test/contract/session-revocation.long.test.ts'],
    harm: 'Two workers claim the same notification, and the provider gets it twice.',
  },
  {
    name: 'session-live-after-expiry',
    file: SESSION_END,
    text: '`(${session}.revoked_at IS NOT NULL OR ${session}.expires_at <= statement_timestamp())`',
    replacement: '`(${session}.revoked_at IS NOT NULL)`',
    tests: [SETTLEMENT],
    harm: 'An expired session takes BETs.',
  },
  {
    name: 'session-end-is-the-later-one',
    file: SESSION_END,
    text: 'least(${session}.expires_at, ${session}.revoked_at)',
    replacement: 'greatest(${session}.expires_at, ${session}.revoked_at)',
    tests: [SETTLEMENT],
    harm: 'Late settlement lasts longer after a revocation than the contract permits.',
  },
  {
    name: 'revoke-of-any-operator',
    file: SESSION,
    text: 's.session_id = :sessionId AND (:operatorId::text IS NULL OR s.operator_id = :operatorId)',
    replacement: 's.session_id = :sessionId AND (:operatorId::text IS NULL OR true)',
    tests: [SETTLEMENT],
    harm: "An operator revokes another operator's session.",
  },
  {
    name: 'revoke-twice',
    file: SESSION,
    text: "WHERE ${condition} AND ${rowByRow('s.revoked_at IS NULL')}",
    replacement: 'WHERE ${condition}',
    tests: [SETTLEMENT],
    harm: 'A second revocation moves the end of the session, and so of late settlement.',
  },
  {
    name: 'revoke-player-of-any-operator',
    file: SESSION,
    text: 'l.operator_id = :operatorId AND l.player_ref = :playerRef',
    replacement: ':operatorId::text IS NOT NULL AND l.player_ref = :playerRef',
    tests: [SETTLEMENT],
    harm: "An operator revokes the sessions of another operator's player of that name.",
  },
  {
    name: 'nonce-twice-fails',
    file: NONCE,
    text: `
    ON CONFLICT DO NOTHING`,
    replacement: '',
    tests: [CLOCKS],
    harm: 'A replayed request ends in an internal error instead of a 401.',
  },
  {
    name: 'nonce-forgotten',
    file: NONCE,
    text: ` WHERE expires_at < statement_timestamp()
         ORDER BY`,
    replacement: `
         ORDER BY`,
    tests: [CLOCKS],
    harm: 'A request can be replayed as soon as a few others have arrived.',
  },
  {
    name: 'audit-before-and-after-swapped',
    file: AUDIT,
    text: ':target, :before, :after, :address',
    replacement: ':target, :after, :before, :address',
    tests: ['test/audit/audit.test.ts'],
    harm: 'The audit log shows changes backwards.',
  },
  {
    name: 'reconcile-play-money',
    file: RECONCILIATION,
    text: `
     AND p.operator_id = :operatorId AND p.mode = 'REAL'`,
    replacement: `
     AND p.operator_id = :operatorId`,
    tests: [RECONCILED],
    harm: 'A transaction of play money covers a booking of real money.',
  },
  {
    name: 'reconcile-any-operator',
    file: RECONCILIATION,
    text: `
     AND p.operator_id = :operatorId AND p.mode = 'REAL'`,
    replacement: `
     AND p.mode = 'REAL' AND :operatorId::text IS NOT NULL`,
    tests: [RECONCILED],
    harm: "Another operator's transaction covers a booking.",
  },
  {
    name: 'reconcile-start-of-range',
    file: RECONCILIATION,
    text: `AND p.created_at >= :from AND p.created_at < :to
     AND NOT`,
    replacement: `AND p.created_at > :from AND p.created_at < :to
     AND NOT`,
    tests: [RECONCILED],
    harm: 'A transaction at midnight that is missing is reported for no day.',
  },
  {
    name: 'reconcile-target-at-any-provider',
    file: RECONCILIATION,
    text: `target.provider_id = p.provider_id
   AND target.transaction_id`,
    replacement: 'target.transaction_id',
    tests: [RECONCILED],
    harm: 'A ROLLBACK is compared with the BET of another provider.',
  },
  {
    name: 'attention-ends-findings-of-others',
    file: ATTENTION,
    text: `operator_id = :operatorId AND range_from >= :from AND range_to <= :to`,
    replacement: `:operatorId::text IS NOT NULL AND range_from >= :from AND range_to <= :to`,
    tests: [RECONCILED_OVER_HTTP],
    harm: "A reconciliation closes the findings of another operator's.",
  },
  {
    name: 'attention-ends-findings-outside',
    file: ATTENTION,
    text: 'AND range_from >= :from AND range_to <= :to',
    replacement: 'AND range_from >= :from AND :to::timestamptz IS NOT NULL',
    tests: [RECONCILED_OVER_HTTP],
    harm: 'A reconciliation of one day closes the findings of later days.',
  },
  {
    name: 'attention-ends-findings-before',
    file: ATTENTION,
    text: 'AND range_from >= :from AND range_to <= :to',
    replacement: 'AND :from::timestamptz IS NOT NULL AND range_to <= :to',
    tests: [RECONCILED_OVER_HTTP],
    harm: 'A reconciliation of one day closes the findings of earlier days.',
  },
];
