import { Injectable } from '@nestjs/common';
import type { Actor } from '../audit/actor.js';
import { Database, type Query, type Statement } from '../database/database.js';
import type { CroupierError } from '../errors/croupier-error.js';
import { type Place, placeColumn, START_OF_LIST } from '../database/place.js';
import type { ExceededLimit } from '../limits/rules/judgement.js';
import type { Approval, ApprovalState } from './approval.js';
import type { GuardedAction } from './guarded-action.js';

/** Longest time that an action waits for its approval. Contract, section 9, "Limits and approvals". */
const WAITS = `interval '24 hours'`;

const COLUMNS = `
  approval_id AS "approvalId", state, kind, reference, deed AS terms, fingerprint, operator_id AS "operatorId", currency,
  amount_minor AS "amountMinor", limit_name AS "limitName", limit_minor AS "limitMinor", used_minor AS "usedMinor",
  asked_by AS "askedBy", asked_by_name AS "askedByName", created_at AS "createdAt", expires_at AS "expiresAt",
  decided_by AS "decidedBy", decided_by_name AS "decidedByName", decided_at AS "decidedAt", reason,
  failure_code AS "failureCode", failure_error AS "failureError"`;

/**
 * Expires approvals that were not decided in time. Runs before approvals are read, so that none is shown as WAITING
 * after its expiry.
 */
const EXPIRE: Statement = {
  name: 'approval_expire',
  text: `UPDATE approvals SET state = 'EXPIRED' WHERE state = 'WAITING' AND expires_at <= clock_timestamp()`,
};

/** Requests approval of an action. No row is returned if an action with this kind and reference is already waiting. */
const REQUEST: Statement = {
  name: 'approval_request',
  text: `
    INSERT INTO approvals (approval_id, state, kind, reference, deed, fingerprint, operator_id, currency, amount_minor,
                           limit_name, limit_minor, used_minor, asked_by, asked_by_name, created_at, expires_at)
    VALUES ($1, 'WAITING', $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, statement_timestamp(),
            statement_timestamp() + ${WAITS})
    ON CONFLICT (kind, reference) WHERE state = 'WAITING' DO NOTHING
    RETURNING ${COLUMNS}`,
};

const WAITING: Statement = {
  name: 'approval_waiting',
  text: `SELECT ${COLUMNS} FROM approvals WHERE kind = $1 AND reference = $2 AND state = 'WAITING'`,
};

const FIND: Statement = {
  name: 'approval_find',
  text: `SELECT ${COLUMNS} FROM approvals WHERE approval_id = $1`,
};

/** Records a decision: only the first succeeds, and none after the expiry. */
const DECIDE: Statement = {
  name: 'approval_decide',
  text: `
    UPDATE approvals
       SET state = $2, decided_by = $3, decided_by_name = $4, decided_at = clock_timestamp(), reason = $5
     WHERE approval_id = $1 AND state = 'WAITING' AND expires_at > clock_timestamp()
    RETURNING approval_id`,
};

const FAIL: Statement = {
  name: 'approval_fail',
  text: `UPDATE approvals SET failure_code = $2, failure_error = $3 WHERE approval_id = $1`,
};

const WAITING_BY_OPERATOR: Statement = {
  name: 'approval_waiting_by_operator',
  text: `
    SELECT operator_id AS operator, count(*) AS value FROM approvals
     WHERE state = 'WAITING' AND expires_at > statement_timestamp() GROUP BY operator_id`,
};

export interface ApprovalFilter {
  readonly state?: ApprovalState;
  readonly operatorId?: string;
  /** from ≤ createdAt < to, ISO 8601. */
  readonly from?: string;
  readonly to?: string;
}

/** One page, newest first. The filters by state and by operator each have an index in this order. */
export function approvalPage(
  { state, operatorId, from, to }: ApprovalFilter,
  before: Place = START_OF_LIST,
  limit: number,
): { statement: Statement; values: unknown[] } {
  const values: unknown[] = [before.at, before.id, limit];
  const comparisons = {
    'state =': state,
    'operator_id =': operatorId,
    'created_at >=': from,
    'created_at <': to,
  };
  const conditions = Object.entries(comparisons)
    .filter(([, value]) => value !== undefined)
    .map(([comparison, value]) => ` AND ${comparison} $${values.push(value)}`);
  const text = `
    SELECT ${COLUMNS}, ${placeColumn('created_at', 'approval_id')} FROM approvals
     WHERE (created_at, approval_id) < ($1::timestamptz, $2::uuid)${conditions.join('')}
     ORDER BY created_at DESC, approval_id DESC LIMIT $3`;
  return { statement: { name: '', text }, values };
}

/** Reads and writes approvals; a decision succeeds only while the approval is WAITING and not expired. */
@Injectable()
export class ApprovalStore {
  constructor(private readonly database: Database) {}

  async expire(query: Query = this.database.query): Promise<void> {
    await query(EXPIRE, []);
  }

  /** @returns undefined if an action with this kind and reference is already waiting */
  async request(
    query: Query,
    approvalId: string,
    actor: Actor,
    action: GuardedAction,
    limit: ExceededLimit | undefined,
  ): Promise<Approval | undefined> {
    const { kind, reference, terms, fingerprint, stake } = action;
    const amountMinor = 'amountMinor' in terms ? terms.amountMinor : (stake?.amountMinor ?? 0);
    const [approval] = await query<Approval>(REQUEST, [
      approvalId,
      kind,
      reference,
      JSON.stringify(terms),
      fingerprint,
      terms.operatorId,
      terms.currency,
      amountMinor,
      limit?.name,
      limit?.limitMinor,
      limit?.usedMinor,
      actor.actor,
      actor.name,
    ]);
    return approval;
  }

  async waiting(query: Query, { kind, reference }: GuardedAction): Promise<Approval | undefined> {
    return (await query<Approval>(WAITING, [kind, reference]))[0];
  }

  async find(approvalId: string): Promise<Approval | undefined> {
    return (await this.database.query<Approval>(FIND, [approvalId]))[0];
  }

  /** Newest first. */
  page(
    filter: ApprovalFilter,
    before: Place | undefined,
    limit: number,
  ): Promise<(Approval & { place: string })[]> {
    const { statement, values } = approvalPage(filter, before, limit);
    return this.database.query(statement, values);
  }

  /** @returns false if it is no longer WAITING, or has expired */
  async decide(
    query: Query,
    approvalId: string,
    state: 'APPROVED' | 'REJECTED',
    actor: Actor,
    reason: string | null,
  ): Promise<boolean> {
    return (await query(DECIDE, [approvalId, state, actor.actor, actor.name, reason])).length > 0;
  }

  /** Stores why an approved action was no longer possible. */
  async fail(query: Query, approvalId: string, { code, message }: CroupierError): Promise<void> {
    await query(FAIL, [approvalId, code, message]);
  }

  waitingByOperator(): Promise<{ operator: string; value: number }[]> {
    return this.database.query(WAITING_BY_OPERATOR, []);
  }
}
