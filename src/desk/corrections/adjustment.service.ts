import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Approval } from '../../approvals/approval.js';
import { ApprovalsService } from '../../approvals/approvals.service.js';
import type { AdjustmentTerms, GuardedAction, Executor } from '../../approvals/guarded-action.js';
import type { Actor } from '../../audit/actor.js';
import { Audit, type RecordEntry } from '../../audit/audit.service.js';
import type { Transaction } from '../../database/database.js';
import { CATALOGUE } from '../../errors/catalogue.js';
import { alreadyUsed } from '../../errors/already-used.js';
import { CroupierError } from '../../errors/croupier-error.js';
import { LimitsService } from '../../limits/limits.service.js';
import { addLogFields } from '../../observability/trace.js';
import { sha256 } from '../../runtime/digest.js';
import { Randomness } from '../../runtime/randomness.js';
import { assertCurrency, PLATFORM_ID } from '../../tenancy/tenant.js';
import { TenancyService } from '../../tenancy/tenancy.service.js';
import { refusedCall } from '../../wallet/attempt.runner.js';
import { ManualAttempts } from '../../wallet/manual-attempts.service.js';
import type { Response } from '../../wallet/rules/outcome.js';
import { codeOf } from '../../wallet/settlement.js';
import type { Claim, TransactionKey } from '../../wallet/transaction.js';
import { USED_ADJUSTMENTS } from '../../wallet/used-adjustments.sql.js';
import type { AdjustmentRequest } from './adjustment.request.js';
import type { AdjustmentResponse } from './adjustment.response.js';
import { TransactionSearchStore, type WholeRow } from '../transactions/transaction-search.store.js';

const UNDER_WAY = "the operator's answer is awaited: read the approval again";

/** Maximum number of tries to claim an adjustment while concurrent requests claim it. */
const CLAIM_TRIES = 5;

/** Books administrators' corrections of players' balances. Contract, section 7. */
@Injectable()
export class AdjustmentService implements OnModuleInit {
  constructor(
    private readonly tenancy: TenancyService,
    private readonly randomness: Randomness,
    private readonly stored: TransactionSearchStore,
    private readonly attempts: ManualAttempts,
    private readonly audit: Audit,
    private readonly approvals: ApprovalsService,
    private readonly limits: LimitsService,
  ) {}

  onModuleInit(): void {
    this.approvals.register('adjustment', this.approved);
    this.limits.countTowardsDay(USED_ADJUSTMENTS);
  }

  /**
   * Books an adjustment once, however often it is requested; DECLINED is a final answer. If the operator did not
   * answer, the same request may be sent again, and the resolver also retries the adjustment. An adjustment above a
   * limit waits for approval.
   * @returns the adjustment, `replayed` if it was decided before; or the approval that it waits for
   * @throws CroupierError INVALID_REQUEST · CONFLICT · TRANSACTION_IN_FLIGHT · OPERATOR_TIMED_OUT ·
   *   OPERATOR_UNAVAILABLE
   */
  async adjust(
    actor: Actor,
    request: AdjustmentRequest,
  ): Promise<{ adjustment: AdjustmentResponse; replayed: boolean } | { approval: Approval }> {
    addLogFields({ adjustmentId: request.adjustmentId, operatorId: request.operatorId });
    for (let attempt = 0; attempt < CLAIM_TRIES; attempt += 1) {
      const row = await this.stored.find(keyOf(request));
      if (row && !sameBody(row, request)) throw alreadyUsed('adjustmentId');
      if (row?.responseBody != null) {
        return { adjustment: answerOf(request, row.responseBody), replayed: true };
      }
      if (row?.leaseAlive) throw new CroupierError('TRANSACTION_IN_FLIGHT');
      let approval: Approval | undefined;
      const result = await this.attempts.adjust(request.operatorId, async () => {
        if (row) return this.retry(actor, keyOf(request), row.attempt);
        const outcome = await this.claimOrHold(actor, request);
        if (!outcome || !('approval' in outcome)) return outcome;
        ({ approval } = outcome);
        return undefined;
      });
      if (approval) return { approval };
      if (result.to === 'refused') throw refusedCall();
      if (result.to === 'unknown') throw new CroupierError(codeOf(result.unknown));
      if (result.to === 'decided') {
        return { adjustment: answerOf(request, result.responseBody), replayed: false };
      }
    }
    throw new CroupierError('TRANSACTION_IN_FLIGHT');
  }

  /**
   * Claims an approved adjustment in the database transaction of its approval. After the commit, the request that
   * approves the adjustment sends it to the operator. If that request cannot, the resolver sends it.
   */
  readonly approved: Executor<'adjustment'> = {
    role: 'operations',
    isRecorded: async (query, terms) => (await this.stored.find(keyOf(terms), query)) !== undefined,
    record: async (transaction, record, terms) => {
      this.assertOperator(terms);
      const claim = await this.record(transaction, record, terms);
      if (!claim) throw alreadyUsed('adjustmentId');
      // If the operator's bound on concurrent calls refuses the call, the resolver sends the adjustment later.
      return async () => {
        await this.attempts.adjust(terms.operatorId, () => Promise.resolve(claim));
      };
    },
    result: async (terms) => {
      const row = await this.stored.find(keyOf(terms));
      if (row?.responseBody != null) return answerOf(terms, row.responseBody);
      const last = row?.attempts.at(-1)?.outcome;
      const unanswered = last === 'OPERATOR_TIMED_OUT' || last === 'OPERATOR_UNAVAILABLE';
      return { error: unanswered ? CATALOGUE[last].message : UNDER_WAY };
    },
  };

  /**
   * Claims the adjustment, or requests its approval if it exceeds a limit.
   * @returns undefined if the adjustmentId is taken
   */
  private claimOrHold(
    actor: Actor,
    request: AdjustmentRequest,
  ): Promise<Claim | { approval: Approval } | undefined> {
    this.assertOperator(request);
    const action = adjustmentAction(request);
    return this.audit.change(actor, async (transaction, record) => {
      const outcome = await this.approvals.hold(transaction, record, actor, action);
      if (outcome.kind === 'waiting') return outcome;
      return outcome.kind === 'free' ? this.record(transaction, record, action.terms) : undefined;
    });
  }

  /**
   * Claims the next attempt of an undecided adjustment, with an audit entry, because the attempt may move money.
   * @returns undefined if another attempt was faster
   */
  private retry(actor: Actor, adjustment: TransactionKey, attempt: number): Promise<Claim | undefined> {
    return this.audit.change(actor, async ({ query }, record) => {
      const claim = await this.attempts.claimNext(query, adjustment, attempt);
      const target = `adjustment:${adjustment.transactionId}`;
      if (claim) await record({ action: 'adjustment.retry', target });
      return claim;
    });
  }

  private async record(
    { query }: Transaction,
    record: RecordEntry,
    terms: AdjustmentTerms,
  ): Promise<Claim | undefined> {
    const adjustment = { ...terms, platformTransactionId: this.randomness.uuid() };
    const claim = await this.attempts.claimAdjustment(query, adjustment);
    const target = `adjustment:${terms.adjustmentId}`;
    if (claim) await record({ action: 'adjustment.create', target, after: terms });
    return claim;
  }

  /** @throws CroupierError INVALID_REQUEST */
  private assertOperator({ operatorId, currency }: Pick<AdjustmentTerms, 'operatorId' | 'currency'>): void {
    const operator = this.tenancy.operator(operatorId);
    if (!operator) throw new CroupierError('INVALID_REQUEST', `operatorId names no operator: ${operatorId}`);
    assertCurrency(operator, currency);
  }
}

function keyOf({ adjustmentId }: Pick<AdjustmentTerms, 'adjustmentId'>): TransactionKey {
  return { providerId: PLATFORM_ID, transactionId: adjustmentId };
}

function adjustmentAction(request: AdjustmentRequest) {
  const { adjustmentId, operatorId, playerRef, currency, amountMinor, reason } = request;
  const terms: AdjustmentTerms = { adjustmentId, operatorId, playerRef, currency, amountMinor, reason };
  return {
    kind: 'adjustment',
    reference: adjustmentId,
    terms,
    fingerprint: sha256(JSON.stringify([operatorId, playerRef, currency, amountMinor, reason])),
    stake: { kind: 'adjustment', amountMinor: Math.abs(amountMinor) },
  } as const satisfies GuardedAction;
}

function sameBody(row: WholeRow, request: AdjustmentRequest): boolean {
  const fields = ['operatorId', 'playerRef', 'currency', 'amountMinor', 'reason'] as const;
  return fields.every((field) => row[field] === request[field]);
}

function answerOf(request: AdjustmentTerms, responseBody: string): AdjustmentResponse {
  const { platformTransactionId, status, balance, declineReason } = JSON.parse(responseBody) as Response;
  const { adjustmentId, operatorId, playerRef, currency, amountMinor, reason } = request;
  return {
    adjustmentId,
    platformTransactionId,
    status,
    balance,
    ...(declineReason !== undefined && { declineReason }),
    operatorId,
    playerRef,
    currency,
    amountMinor,
    reason,
  };
}
