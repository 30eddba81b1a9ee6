import { Injectable } from '@nestjs/common';
import type { Actor } from '../audit/actor.js';
import { Database, type Query } from '../database/database.js';
import type { CroupierError } from '../errors/croupier-error.js';
import type { Place } from '../database/place.js';
import { named } from '../database/statement.js';
import { timeOrderedPage, type TimeOrderedTable } from '../database/time-ordered.js';
import type { ExceededLimit } from '../limits/rules/judgement.js';
import type { Approval } from './approval.js';
import type { ApprovalQuery } from './approval.request.js';
import type { GuardedAction } from './guarded-action.js';

/** Longest time that an action waits for its approval. Contract, section 9, "Limits and approvals". */
const WAITS = `interval '24 hours'`;

const COLUMNS = `
  approval_id AS "approvalId", state, kind, reference, deed AS terms, fingerprint, operator_id AS "operatorId", currency,
  CASE WHEN kind IN ('grant', 'batch') THEN amount_minor END AS "stakeMinor",
  CASE WHEN kind IN ('adjustment', 'settlement') THEN amount_minor END AS "amountMinor",
  CASE WHEN limit_name IS NOT NULL
       THEN json_build_object('name', limit_name, 'limitMinor', limit_minor, 'usedMinor', used_minor) END AS "limit",
  asked_by AS "askedBy", asked_by_name AS "askedByName", created_at AS "createdAt", expires_at AS "expiresAt",
  decided_by AS "decidedBy", decided_by_name AS "decidedByName", decided_at AS "decidedAt", reason,
  failure_error AS "failureError"`;

/**
 * Expires approvals that were not decided in time. Runs before approvals are read, so that none is shown as WAITING
 * after its expiry.
 */
export const EXPIRE = named(
  'approval_expire',
  `UPDATE approvals SET state = 'EXPIRED' WHERE state = 'WAITING' AND expires_at <= statement_timestamp()`,
);

/** Requests approval of an action. No row is returned if an action with this kind and reference is already waiting. */
const REQUEST = named(
  'approval_request',
  `
    INSERT INTO approvals (approval_id, state, kind, reference, deed, fingerprint, operator_id, currency, amount_minor,
                           limit_name, limit_minor, used_minor, asked_by, asked_by_name, created_at, expires_at)
    VALUES (:approvalId, 'WAITING', :kind, :reference, :terms, :fingerprint, :operatorId, :currency, :amountMinor,
            :limitName, :limitMinor, :usedMinor, :actor, :actorName, statement_timestamp(),
            statement_timestamp() + ${WAITS})
    ON CONFLICT (kind, reference) WHERE state = 'WAITING' DO NOTHING
    RETURNING ${COLUMNS}`,
);

const WAITING = named(
  'approval_waiting',
  `SELECT ${COLUMNS} FROM approvals WHERE kind = :kind AND reference = :reference AND state = 'WAITING'`,
);

const FIND = named('approval_find', `SELECT ${COLUMNS} FROM approvals WHERE approval_id = :approvalId`);

/** Records a decision: only the first succeeds, and none after the expiry. */
const DECIDE = named(
  'approval_decide',
  `
    UPDATE approvals
       SET state = :state, decided_by = :actor, decided_by_name = :actorName, decided_at = clock_timestamp(),
           reason = :reason
     WHERE approval_id = :approvalId AND state = 'WAITING' AND expires_at > clock_timestamp()
    RETURNING approval_id`,
);

const FAIL = named(
  'approval_fail',
  `UPDATE approvals SET failure_code = :code, failure_error = :message WHERE approval_id = :approvalId`,
);

/** Age up to which an approval is read even if it is already decided, so that a reading sees it at least once. */
const RECENT = `interval '30 seconds'`;
/** Maximum number of waiting and of recent approvals whose states are read; the newest are read. */
const STATES_READ = 500;

/** The states of approvals that wait, are recent or are in `known`. */
export const STATES = named(
  'approval_states',
  `
    SELECT approval_id AS "approvalId", state FROM approvals
     WHERE approval_id IN (
       (SELECT approval_id FROM approvals WHERE state = 'WAITING' ORDER BY created_at DESC LIMIT ${STATES_READ})
       UNION
       (SELECT approval_id FROM approvals WHERE created_at > statement_timestamp() - ${RECENT}
         ORDER BY created_at DESC LIMIT ${STATES_READ})
       UNION
       SELECT unnest(:known::uuid[]))`,
);

const FIND_SEVERAL = named(
  'approval_find_several',
  `SELECT ${COLUMNS} FROM approvals WHERE approval_id = ANY (:approvalIds::uuid[]) ORDER BY created_at, approval_id`,
);

const WAITING_BY_OPERATOR = named(
  'approval_waiting_by_operator',
  `
    SELECT operator_id AS operator, count(*) AS count,
           extract(epoch FROM statement_timestamp() - min(created_at))::float8 AS "oldestSeconds"
      FROM approvals
     WHERE state = 'WAITING' AND expires_at > statement_timestamp() GROUP BY operator_id`,
);

const TABLE: TimeOrderedTable = { columns: COLUMNS, from: 'approvals', id: 'approval_id', idType: 'uuid' };

@Injectable()
export class ApprovalStore {
  constructor(private readonly database: Database) {}

  async expire(query: Query = this.database.query): Promise<void> {
    await query(EXPIRE, {});
  }

  async request(
    query: Query,
    approvalId: string,
    actor: Actor,
    action: GuardedAction,
    limit: ExceededLimit | undefined,
  ): Promise<Approval | undefined> {
    const { terms, stake } = action;
    const amountMinor = 'amountMinor' in terms ? terms.amountMinor : (stake?.amountMinor ?? 0);
    const [approval] = await query<Approval>(REQUEST, {
      ...action,
      approvalId,
      terms: JSON.stringify(terms),
      operatorId: terms.operatorId,
      currency: terms.currency,
      amountMinor,
      limitName: limit?.name,
      limitMinor: limit?.limitMinor,
      usedMinor: limit?.usedMinor,
      actor: actor.actor,
      actorName: actor.name,
    });
    return approval;
  }

  async waiting(query: Query, action: GuardedAction): Promise<Approval | undefined> {
    return (await query<Approval>(WAITING, action))[0];
  }

  async find(approvalId: string): Promise<Approval | undefined> {
    return (await this.database.query<Approval>(FIND, { approvalId }))[0];
  }

  /** One page, newest first. The filters by state and by operator each have an index in this order. */
  page(
    { state, operatorId: operator_id, from, to }: ApprovalQuery,
    before: Place | undefined,
    limit: number,
  ): Promise<(Approval & { place: string })[]> {
    const page = timeOrderedPage(TABLE, { state, operator_id }, { from, to, before }, limit);
    return this.database.query(page.statement, page.values);
  }

  /** @returns false if it is no longer WAITING, or has expired */
  async decide(
    query: Query,
    approvalId: string,
    state: 'APPROVED' | 'REJECTED',
    { actor, name: actorName }: Actor,
    reason: string | null,
  ): Promise<boolean> {
    return (await query(DECIDE, { approvalId, state, actor, actorName, reason })).length > 0;
  }

  async fail(query: Query, approvalId: string, { code, message }: CroupierError): Promise<void> {
    await query(FAIL, { approvalId, code, message });
  }

  /** The states of approvals that wait, are recent or are in `known`. */
  states(known: readonly string[]): Promise<Pick<Approval, 'approvalId' | 'state'>[]> {
    return this.database.query(STATES, { known });
  }

  /** Oldest first. */
  findSeveral(approvalIds: readonly string[]): Promise<Approval[]> {
    return this.database.query(FIND_SEVERAL, { approvalIds });
  }

  waitingByOperator(): Promise<{ operator: string; count: number; oldestSeconds: number }[]> {
    return this.database.query(WAITING_BY_OPERATOR, {});
  }
}
