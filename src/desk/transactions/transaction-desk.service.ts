import { Injectable } from '@nestjs/common';
import type { Actor } from '../../audit/actor.js';
import { Audit } from '../../audit/audit.service.js';
import { CroupierError } from '../../errors/croupier-error.js';
import { isUuid } from '../../api/validation/identifier.js';
import type { PageOf, PageQuery } from '../../api/lists/page.js';
import { pageOfWindow } from '../../api/lists/time-page.js';
import { PLATFORM_ID } from '../../tenancy/tenant.js';
import { Parking } from '../../wallet/resolving/parking.js';
import { ResolutionService } from '../../wallet/resolving/resolution.service.js';
import type { TransactionKey } from '../../wallet/transaction.js';
import type { TransactionQuery } from './transaction.admin.request.js';
import type { TransactionDetail, TransactionItem } from './transaction.admin.response.js';
import type { TransactionFilter } from './transaction-search.sql.js';
import { type DeskRow, TransactionSearchStore, type WholeRow } from './transaction-search.store.js';
import { detailOf, itemOf } from './transaction-story.js';

/** Transactions for the support desk. Contract, section 7. */
@Injectable()
export class TransactionDesk {
  constructor(
    private readonly transactions: TransactionSearchStore,
    private readonly resolution: ResolutionService,
    private readonly parking: Parking,
    private readonly audit: Audit,
  ) {}

  /**
   * One page of transactions, newest first.
   * @throws CroupierError INVALID_REQUEST
   */
  list({ parked, ...query }: TransactionQuery): Promise<PageOf<TransactionItem>> {
    return this.page(withTenantOfKind({ ...query, ...(parked && { parked: true }) }), query);
  }

  /**
   * One page of a session's transactions, newest first. The filter includes the player, because the index is by player.
   * @throws CroupierError INVALID_REQUEST
   */
  ofSession(
    { sessionId, playerRef }: { sessionId: string; playerRef: string },
    query: PageQuery,
  ): Promise<PageOf<TransactionItem>> {
    return this.page({ sessionId, playerRef }, query);
  }

  private page(filter: TransactionFilter, query: PageQuery): Promise<PageOf<TransactionItem>> {
    return pageOfWindow<DeskRow & { place: string }, TransactionItem>(
      query,
      isUuid,
      ({ before, limit }) => this.transactions.page(filter, before, limit),
      itemOf,
    );
  }

  /**
   * Everything that is known about one transaction.
   * @param operatorId undefined for a transaction of any operator
   * @throws CroupierError NOT_FOUND
   */
  async detail(key: TransactionKey, operatorId?: string): Promise<TransactionDetail> {
    const row = await this.transactions.find(key);
    if (!row || row.operatorId !== (operatorId ?? row.operatorId))
      throw new CroupierError('NOT_FOUND', 'no such transaction');
    const rollbacks = await this.transactions.rollbacksOf(row);
    const [whole, ...others] = await this.withOperatorBodies(row, rollbacks);
    return detailOf(whole, others);
  }

  /**
   * Adds the stored bodies of the operator's answers to the attempts of a transaction and its ROLLBACKs. All of these
   * transactions have the same provider.
   */
  private async withOperatorBodies(
    row: WholeRow,
    rollbacks: readonly WholeRow[],
  ): Promise<[WholeRow, ...WholeRow[]]> {
    const rows: [WholeRow, ...WholeRow[]] = [row, ...rollbacks];
    const since = new Date(Math.min(...rows.map(({ createdAt }) => createdAt.getTime())));
    const ids = rows.map(({ transactionId }) => transactionId);
    const answers = await this.transactions.operatorAnswers(row.providerId, ids, since);
    const bodyOf = ({ transactionId }: WholeRow, attempt: number) =>
      answers.find((answer) => answer.transactionId === transactionId && answer.attempt === attempt)?.body;
    const withBodies = (each: WholeRow): WholeRow => ({
      ...each,
      attempts: each.attempts.map((attempt) => {
        const operatorBody = bodyOf(each, attempt.attempt);
        return operatorBody === undefined ? attempt : { ...attempt, operatorBody };
      }),
    });
    return [withBodies(row), ...rollbacks.map(withBodies)];
  }

  /**
   * Does now what the resolver would do later. Also resolves a parked transaction, which the resolver leaves to a
   * person. If the operator fails again, `resolve` does not throw: the returned detail shows the failed attempt. A
   * PENDING transaction with an expired lease is treated like a TIMED_OUT one.
   * @throws CroupierError NOT_FOUND · CONFLICT if it is decided · TRANSACTION_IN_FLIGHT
   */
  async resolve(actor: Actor, key: TransactionKey): Promise<TransactionDetail> {
    await this.detail(key);
    // Recorded before the call to the operator, so that the audit log has the request even if the call fails.
    const target = `transaction:${key.providerId}/${key.transactionId}`;
    await this.audit.record(actor, { action: 'transaction.resolve', target }, 'request');
    const resolved = await this.resolution.resolve(key, 'administrator');
    if (resolved.to === 'decided-before') {
      throw new CroupierError('CONFLICT', 'the transaction is decided: there is nothing to resolve');
    }
    if (resolved.to === 'in-flight') throw new CroupierError('TRANSACTION_IN_FLIGHT');
    if (resolved.to === 'ending-declined') await this.parking.park(key, 'the rollback was declined');
    return this.detail(key);
  }
}

/**
 * Replaces the filter `kind=ADJUSTMENT` with `providerId=platform`, which has an index. Both select the same
 * transactions, because all adjustments, and no other transactions, have the provider `platform`.
 */
function withTenantOfKind(filter: TransactionFilter): TransactionFilter {
  const { kind, providerId = PLATFORM_ID } = filter;
  if (kind !== 'ADJUSTMENT' || providerId !== PLATFORM_ID) return filter;
  return { ...filter, providerId, kind: undefined };
}
