import { Injectable, type OnModuleInit } from '@nestjs/common';
import { KeyAdministration } from '../admin/key-administration.service.js';
import { holds, ROOT_ID } from '../admin/role.js';
import type { Actor } from '../audit/actor.js';
import { Audit, type RecordEntry } from '../audit/audit.service.js';
import type { Transaction } from '../database/database.js';
import { alreadyUsed } from '../errors/already-used.js';
import { CroupierError } from '../errors/croupier-error.js';
import { conflictForNow } from '../errors/try-later.js';
import type { PageOf } from '../api/lists/page.js';
import { pageByTime } from '../api/lists/time-page.js';
import { isUuid } from '../api/validation/identifier.js';
import { LimitsService } from '../limits/limits.service.js';
import { atMostEvery } from '../observability/at-most-every.js';
import { Metrics } from '../observability/metrics.js';
import { Randomness } from '../runtime/randomness.js';
import { type Approval, approvalItem, type ApprovalWithResult } from './approval.js';
import type { ApprovalQuery } from './approval.request.js';
import type { ApprovalItem } from './approval.response.js';
import { ApprovalStore } from './approval.store.js';
import { type GuardedAction, type GuardedActionKind, type Executor, summaryOf } from './guarded-action.js';

/**
 * `free`: the action may be recorded now; `recorded`: it was recorded before; `waiting`: it waits for approval, and `isNew`
 * is true if it did not before.
 */
export type HoldOutcome =
  | { readonly kind: 'free' }
  | { readonly kind: 'recorded' }
  | { readonly kind: 'waiting'; readonly approval: Approval; readonly isNew: boolean };

/** Whether the action was neither recorded nor requested before. */
export function isFirst(held: HoldOutcome): boolean {
  return held.kind === 'free' || (held.kind === 'waiting' && held.isNew);
}

/**
 * Holds actions that exceed a limit, or always need approval, until a second person approves them. Contract, section 9,
 * "Limits and approvals".
 *
 * An approved action is carried out exactly once, even if the process dies: one transaction commits the decision and
 * the record of the action (an unsent grant, the grants of a batch, the claim of an adjustment, a settlement, the new
 * limits). The action's module does the remaining work, and resumes it after a crash. The result is not stored a second
 * time: it is read from the record of the action.
 */
@Injectable()
export class ApprovalsService implements OnModuleInit {
  private readonly executors = new Map<GuardedActionKind, Executor<GuardedActionKind>>();

  constructor(
    private readonly approvals: ApprovalStore,
    private readonly limits: LimitsService,
    private readonly keys: KeyAdministration,
    private readonly audit: Audit,
    private readonly randomness: Randomness,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    // The gauges are read at the same time and share one statement.
    const waiting = atMostEvery(0, () => this.approvals.waitingByOperator());
    this.metrics.addGauge({
      name: 'croupier_approvals_waiting',
      help: 'Actions that wait for the approval of a second person; all instances report the same value',
      labelNames: ['operator'],
      read: async () => (await waiting()).map(({ operator, count }) => ({ operator, value: count })),
    });
    this.metrics.addGauge({
      name: 'croupier_approvals_oldest_seconds',
      help: 'Time since the oldest waiting approval was requested; all instances report the same value',
      labelNames: ['operator'],
      read: async () =>
        (await waiting()).map(({ operator, oldestSeconds }) => ({ operator, value: oldestSeconds })),
      combine: Math.max,
    });
  }

  /** Registers the executor of a kind of action. The module of these actions calls it at start. */
  register<Kind extends GuardedActionKind>(kind: Kind, executor: Executor<Kind>): void {
    this.executors.set(kind, executor);
  }

  /**
   * Requests approval of an action that exceeds a limit of its operator or always needs approval. The caller must
   * record a `free` action in the same transaction, because the limit is locked only until that transaction ends.
   * @throws CroupierError CONFLICT if a different action with this reference waits, or the waiting action has just been
   *   decided
   */
  async hold(
    transaction: Transaction,
    record: RecordEntry,
    actor: Actor,
    action: GuardedAction,
  ): Promise<HoldOutcome> {
    const { query } = transaction;
    // Locks the limit before the approvals, in the same order as `recordAction`, so that the two cannot deadlock.
    const limit = action.stake && (await this.limits.judge(query, action.terms, action.stake));
    await this.approvals.expire(query);
    const waiting = await this.approvals.waiting(query, action);
    if (waiting) return { kind: 'waiting', approval: requireSame(waiting, action), isNew: false };
    if (action.stake && !limit) return { kind: 'free' };
    // Checked after the waiting approvals, so that an action that was approved between the two checks is found here.
    if (await this.executorOf(action.kind).isRecorded(query, action.terms)) return { kind: 'recorded' };
    const requested = await this.approvals.request(query, this.randomness.uuid(), actor, action, limit);
    const approval = requested ?? (await this.approvals.waiting(query, action));
    if (!approval) throw conflictForNow('the same request is being decided; try again');
    if (requested) {
      const after = { summary: summaryOf(action), ...(limit && { limit }), terms: action.terms };
      await record({ action: 'approval.ask', target: targetOf(requested), after });
    }
    return { kind: 'waiting', approval: requireSame(approval, action), isNew: requested !== undefined };
  }

  /**
   * @param operatorId restricts the call to the approvals of this operator's grants and batches; undefined for all
   * @throws CroupierError NOT_FOUND
   */
  async find(approvalId: string, operatorId?: string): Promise<ApprovalWithResult> {
    await this.approvals.expire();
    const approval = await this.approvals.find(approvalId);
    if (!approval || (operatorId !== undefined && !isVisibleTo(operatorId, approval))) {
      throw new CroupierError('NOT_FOUND', 'no such approval');
    }
    return this.withResult(approval);
  }

  /**
   * Newest first.
   * @throws CroupierError INVALID_REQUEST
   */
  async list(query: ApprovalQuery): Promise<PageOf<ApprovalItem>> {
    await this.approvals.expire();
    return pageByTime(
      query,
      isUuid,
      ({ before, limit }) => this.approvals.page(query, before, limit),
      (approval) => approvalItem(approval),
    );
  }

  /** The number of WAITING approvals. */
  async countWaiting(): Promise<number> {
    return (await this.approvals.waitingByOperator()).reduce((sum, { count }) => sum + count, 0);
  }

  /** The states of approvals that wait, are at most 30 seconds old or are in `known`. */
  async states(known: readonly string[]): Promise<Pick<Approval, 'approvalId' | 'state'>[]> {
    await this.approvals.expire();
    return this.approvals.states(known);
  }

  /** Oldest first. */
  async items(approvalIds: readonly string[]): Promise<ApprovalItem[]> {
    return (await this.approvals.findSeveral(approvalIds)).map(approvalItem);
  }

  /**
   * Approves and carries out the action. If the approval is already APPROVED, only returns it with its result.
   * @throws CroupierError NOT_FOUND · FORBIDDEN if the role does not permit the action, or the approver is the
   *   requester, a key that the requester created, or has created the requester's key · CONFLICT if the approval is
   *   REJECTED or EXPIRED
   */
  async approve(actor: Actor, approvalId: string): Promise<ApprovalWithResult> {
    const approval = await this.find(approvalId);
    assertRole(actor, this.executorOf(approval.kind));
    await this.assertAnotherPerson(actor, approval);
    const finish = await this.recordAction(actor, approval).catch((error: unknown) => {
      // The transaction was rolled back, and with it the decision: a crash here leaves the approval WAITING.
      const isFinal = error instanceof CroupierError && error.code !== 'OVERLOADED';
      if (isFinal) return this.recordFailure(actor, approval, error);
      throw error;
    });
    await finish?.();
    const decided = await this.find(approvalId);
    if (!finish && decided.state !== 'APPROVED') throw notWaiting(decided);
    return decided;
  }

  /**
   * Makes the approval APPROVED and records the action, in one transaction.
   * @returns the remaining work; undefined if the approval is no longer WAITING
   * @throws CroupierError if the action is no longer possible; then nothing is committed
   */
  private recordAction(actor: Actor, approval: Approval): Promise<(() => Promise<void>) | undefined> {
    const { approvalId, kind, terms, askedBy } = approval;
    return this.audit.change(actor, async (transaction, record) => {
      // It counts towards the daily limit, or changes the limits: no other action may be judged before it is committed.
      await this.limits.lock(transaction.query, approval);
      if (!(await this.approvals.decide(transaction.query, approvalId, 'APPROVED', actor, null))) return;
      const finish = await this.executorOf(kind).record(transaction, record, terms, askedBy);
      const after = { summary: summaryOf(approval) };
      await record({ action: 'approval.approve', target: targetOf(approval), after });
      return finish;
    });
  }

  /** Stores that the action was approved but is no longer possible, and the reason. */
  private recordFailure(
    actor: Actor,
    approval: Approval,
    failure: CroupierError,
  ): Promise<(() => Promise<void>) | undefined> {
    const { approvalId } = approval;
    return this.audit.change(actor, async ({ query }, record) => {
      if (!(await this.approvals.decide(query, approvalId, 'APPROVED', actor, null))) return;
      await this.approvals.fail(query, approvalId, failure);
      const after = { summary: summaryOf(approval), error: failure.message };
      await record({ action: 'approval.approve', target: targetOf(approval), after });
      return () => Promise.resolve();
    });
  }

  /**
   * Rejects the action. The requester may withdraw it in this way, even without the action's role.
   * @throws CroupierError NOT_FOUND · FORBIDDEN if the role does not permit the action · CONFLICT if it is no longer
   *   WAITING
   */
  async reject(actor: Actor, approvalId: string, reason: string): Promise<ApprovalWithResult> {
    const approval = await this.find(approvalId);
    if (actor.actor !== approval.askedBy) assertRole(actor, this.executorOf(approval.kind));
    const rejected = await this.audit.change(actor, async ({ query }, record) => {
      if (!(await this.approvals.decide(query, approvalId, 'REJECTED', actor, reason))) return false;
      const after = { summary: summaryOf(approval), reason };
      await record({ action: 'approval.reject', target: targetOf(approval), after });
      return true;
    });
    const decided = await this.find(approvalId);
    if (!rejected) throw notWaiting(decided);
    return decided;
  }

  private async withResult(approval: Approval): Promise<ApprovalWithResult> {
    const { state, kind, terms, failureError } = approval;
    if (state !== 'APPROVED') return approval;
    const result =
      failureError === null ? await this.executorOf(kind).result(terms) : { error: failureError };
    return { ...approval, result };
  }

  /**
   * Refuses the requester, keys that the requester created, and those who created the requester's key, directly or
   * through other keys. The root key creates the first keys, so it may approve what they request.
   * @throws CroupierError FORBIDDEN
   */
  private async assertAnotherPerson({ actor }: Actor, { askedBy }: Approval): Promise<void> {
    if (actor === askedBy) {
      throw new CroupierError('FORBIDDEN', 'this needs a person other than the requester');
    }
    if (await this.keys.isMadeBy(actor, askedBy)) {
      throw new CroupierError('FORBIDDEN', 'this needs another person: the requester created this key');
    }
    if (actor !== ROOT_ID && (await this.keys.isMadeBy(askedBy, actor))) {
      throw new CroupierError(
        'FORBIDDEN',
        "this needs another person: the approver created the requester's key",
      );
    }
  }

  private executorOf<Kind extends GuardedActionKind>(kind: Kind): Executor<Kind> {
    const executor = this.executors.get(kind);
    if (!executor) throw new Error(`no executor is registered for the kind ${kind}`);
    return executor;
  }
}

/**
 * An operator may see the approvals of grants and batches for its players, even if an administrator requested them, but
 * not those of adjustments, settlements and limits.
 */
function isVisibleTo(operatorId: string, approval: Approval): boolean {
  return approval.operatorId === operatorId && (approval.kind === 'grant' || approval.kind === 'batch');
}

/** @throws CroupierError FORBIDDEN */
function assertRole({ roles = [] }: Actor, { role }: Pick<Executor<GuardedActionKind>, 'role'>): void {
  if (!holds(roles, role)) throw new CroupierError('FORBIDDEN', `this needs the role ${role}`);
}

const DIFFERS: Readonly<Record<GuardedActionKind, () => CroupierError>> = {
  grant: () => alreadyUsed('requestRef'),
  batch: () => alreadyUsed('batchRef'),
  adjustment: () => alreadyUsed('adjustmentId'),
  settlement: () =>
    new CroupierError(
      'CONFLICT',
      'a settlement with another answer, or of an earlier attempt, already waits for approval',
    ),
  limit: () =>
    new CroupierError(
      'CONFLICT',
      'another change of these limits already waits for approval: it must be decided first',
    ),
};

/** @throws CroupierError CONFLICT if the waiting action differs from the request */
function requireSame(waiting: Approval, { fingerprint, kind }: GuardedAction): Approval {
  if (waiting.fingerprint.equals(fingerprint)) return waiting;
  throw DIFFERS[kind]();
}

function notWaiting({ state }: Approval): CroupierError {
  return new CroupierError('CONFLICT', `the approval is ${state}: only a WAITING one can be decided`);
}

function targetOf({ approvalId }: Approval): string {
  return `approval:${approvalId}`;
}
