import { Injectable } from '@nestjs/common';
import type { Actor } from '../../audit/actor.js';
import { Audit } from '../../audit/audit.service.js';
import { CroupierError } from '../../errors/croupier-error.js';
import { monotonicMs } from '../../runtime/clock.js';
import { Randomness } from '../../runtime/randomness.js';
import { PLATFORM_ID } from '../../tenancy/tenant.js';
import { TenancyService } from '../../tenancy/tenancy.service.js';
import { AttemptRunner, codeOf } from '../attempt.runner.js';
import type { Response } from '../rules/outcome.js';
import type { Claim } from '../transaction.js';
import { TransactionStore } from '../transaction.store.js';
import type { AdjustmentRequest, AdjustmentResponse } from './adjustment.request.js';
import { TransactionSearchStore, type WholeRow } from './transaction-search.store.js';

/** Tries to claim the adjustment while concurrent requests change it. */
const CLAIM_TRIES = 5;

/** Corrections of a player's balance by an administrator. Contract, section 7. */
@Injectable()
export class AdjustmentService {
  constructor(
    private readonly tenancy: TenancyService,
    private readonly randomness: Randomness,
    private readonly transactions: TransactionStore,
    private readonly stored: TransactionSearchStore,
    private readonly attempts: AttemptRunner,
    private readonly audit: Audit,
  ) {}

  /**
   * Books an adjustment once, however often it is requested; DECLINED is a final answer. If the operator did not answer,
   * the same request may be sent again, and the resolver retries it as well.
   * @returns `replayed` if it was decided before
   * @throws CroupierError INVALID_REQUEST · CONFLICT · TRANSACTION_IN_FLIGHT · OPERATOR_TIMED_OUT · OPERATOR_UNAVAILABLE
   */
  async adjust(
    actor: Actor,
    request: AdjustmentRequest,
  ): Promise<{ adjustment: AdjustmentResponse; replayed: boolean }> {
    for (let attempt = 0; attempt < CLAIM_TRIES; attempt += 1) {
      const startedMs = monotonicMs();
      const row = await this.stored.find(PLATFORM_ID, request.adjustmentId);
      if (row && !sameBody(row, request)) {
        throw new CroupierError('CONFLICT', 'this adjustmentId was already used with another request');
      }
      if (row?.responseBody != null) {
        return { adjustment: answerOf(request, row.responseBody), replayed: true };
      }
      if (row?.leaseAlive) throw new CroupierError('TRANSACTION_IN_FLIGHT');
      const claim = row
        ? await this.transactions.retry(PLATFORM_ID, request.adjustmentId, row.attempt)
        : await this.claim(actor, request);
      const body = claim && (await this.execute(claim, startedMs));
      if (body !== undefined) return { adjustment: answerOf(request, body), replayed: false };
    }
    throw new CroupierError('TRANSACTION_IN_FLIGHT');
  }

  private claim(actor: Actor, request: AdjustmentRequest): Promise<Claim | undefined> {
    const { operatorId } = request;
    if (!this.tenancy.operator(operatorId)) {
      throw new CroupierError('INVALID_REQUEST', `operatorId names no operator: ${operatorId}`);
    }
    const adjustment = { ...request, platformTransactionId: this.randomness.uuid() };
    return this.audit.change(actor, async ({ query }, record) => {
      const claim = await this.transactions.claimAdjustment(query, adjustment);
      const target = `adjustment:${request.adjustmentId}`;
      if (claim) await record({ action: 'adjustment.create', target, after: request });
      return claim;
    });
  }

  /** @returns the stored response; undefined if the attempt was taken over */
  private async execute(claim: Claim, startedMs: number): Promise<string | undefined> {
    const outcome = await this.attempts.execute(claim, startedMs, 'administrator');
    if (outcome.to === 'unknown') throw new CroupierError(codeOf(outcome.unknown));
    return outcome.to === 'decided' ? outcome.responseBody : undefined;
  }
}

function sameBody(row: WholeRow, request: AdjustmentRequest): boolean {
  const fields = ['operatorId', 'playerRef', 'currency', 'amountMinor', 'reason'] as const;
  return fields.every((field) => row[field] === request[field]);
}

function answerOf(request: AdjustmentRequest, responseBody: string): AdjustmentResponse {
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
