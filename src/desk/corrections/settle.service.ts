import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Approval } from '../../approvals/approval.js';
import { ApprovalsService } from '../../approvals/approvals.service.js';
import type { GuardedAction, Executor, SettlementTerms } from '../../approvals/guarded-action.js';
import type { Actor } from '../../audit/actor.js';
import { Audit } from '../../audit/audit.service.js';
import { CroupierError } from '../../errors/croupier-error.js';
import { addLogFields } from '../../observability/trace.js';
import { sha256 } from '../../runtime/digest.js';
import { ManualAttempts } from '../../wallet/manual-attempts.service.js';
import { isUndecided } from '../../wallet/rules/facts.js';
import type { TransactionKey } from '../../wallet/transaction.js';
import type { SettleRequest } from './settle.request.js';
import { TransactionDesk } from '../transactions/transaction-desk.service.js';
import { TransactionSearchStore, type WholeRow } from '../transactions/transaction-search.store.js';

/**
 * Settles parked transactions with an answer that the operator gave by means other than its wallet. Contract, section
 * 9, "Settling by hand".
 *
 * A settlement always waits for a second person. The approval, the claim of the attempt and its settlement are one
 * database transaction, with the same conditions as every attempt. So if a retry, the resolver and a settlement by hand
 * compete, only one of them decides. A retry after the request may have moved money that the operator's answer does not
 * know of, so it ends the request even if it is undecided.
 */
@Injectable()
export class SettleService implements OnModuleInit {
  constructor(
    private readonly stored: TransactionSearchStore,
    private readonly desk: TransactionDesk,
    private readonly attempts: ManualAttempts,
    private readonly approvals: ApprovalsService,
    private readonly audit: Audit,
  ) {}

  onModuleInit(): void {
    this.approvals.register('settlement', this.approved);
  }

  /**
   * Requests the approval of a settlement.
   * @throws CroupierError NOT_FOUND · CONFLICT if `obstacleTo` finds one, or a settlement with another
   *   answer already waits for approval
   */
  async requestSettlement(actor: Actor, key: TransactionKey, request: SettleRequest): Promise<Approval> {
    addLogFields({ providerId: key.providerId, transactionId: key.transactionId });
    const row = await this.stored.find(key);
    if (!row) throw new CroupierError('NOT_FOUND', 'no such transaction');
    const obstacle = obstacleTo(row, request.status);
    if (obstacle !== undefined) throw new CroupierError('CONFLICT', obstacle);
    const action = settlementAction(row, request);
    const outcome = await this.audit.change(actor, (transaction, record) =>
      this.approvals.hold(transaction, record, actor, action),
    );
    if (outcome.kind === 'waiting') return outcome.approval;
    throw new CroupierError('CONFLICT', DECIDED);
  }

  /** Claims and settles a transaction in the database transaction that approves the settlement. */
  readonly approved: Executor<'settlement'> = {
    role: 'operations',
    isRecorded: async (query, key) => (await this.stored.find(key, query))?.settledByHand ?? false,
    record: async ({ query }, record, terms) => {
      const { providerId, transactionId, status, balance, currency, operatorReference, reason } = terms;
      const claim = await this.attempts.claimNext(query, terms, terms.attempt);
      if (!claim) throw new CroupierError('CONFLICT', OUTDATED);
      const settled = await this.attempts.settleByHand(query, claim, terms);
      const after = { status, balance, currency, operatorReference, reason };
      const target = `transaction:${providerId}/${transactionId}`;
      await record({ action: 'transaction.settle', target, after });
      return async () => settled();
    },
    result: (key) => this.desk.detail(key),
  };
}

const DECIDED = 'the transaction is decided: there is nothing to settle';
const OUTDATED =
  'since the request, the transaction was decided or sent to the operator again, or a ROLLBACK of it has begun';

/** Why the transaction cannot be settled with this status; undefined if it can. */
function obstacleTo(row: WholeRow, status: string): string | undefined {
  const { state, kind, parkedAt, rollbackId, verdict } = row;
  if (kind === null || !isUndecided(state)) return DECIDED;
  if (rollbackId !== null) return `its ROLLBACK ${rollbackId} decides the transaction: settle the ROLLBACK`;
  if (parkedAt === null) return 'the transaction is not parked: the resolver still retries it';
  if (verdict === null || verdict === status) return undefined;
  return `the platform has decided it: it can only be settled as ${verdict}`;
}

function settlementAction(row: WholeRow, request: SettleRequest) {
  const { providerId, transactionId, attempt, kind, operatorId, playerRef, currency, amountMinor } = row;
  const { status, balance = null, operatorReference, reason } = request;
  const terms: SettlementTerms = {
    providerId,
    transactionId,
    attempt,
    kind: kind ?? '',
    operatorId,
    playerRef,
    currency,
    amountMinor,
    status,
    balance,
    operatorReference,
    reason,
  };
  return {
    kind: 'settlement',
    reference: `${providerId}/${transactionId}`,
    terms,
    fingerprint: sha256(JSON.stringify([attempt, status, balance, operatorReference, reason])),
    stake: undefined,
  } as const satisfies GuardedAction;
}
