import { Injectable, type OnModuleInit } from '@nestjs/common';
import { KeyAdministration } from '../admin/key-administration.service.js';
import { holds } from '../admin/role.js';
import type { Actor } from '../audit/actor.js';
import { Audit, type RecordEntry } from '../audit/audit.service.js';
import type { Transaction } from '../database/database.js';
import { CroupierError } from '../errors/croupier-error.js';
import type { PageOf } from '../http/lists/page.js';
import { pageByTime } from '../http/lists/time-page.js';
import { isUuid } from '../http/validation/identifier.js';
import { LimitsService } from '../limits/limits.service.js';
import { Metrics } from '../observability/metrics.js';
import { Randomness } from '../runtime/randomness.js';
import type { Approval, ApprovalWithResult } from './approval.js';
import type { ApprovalQuery } from './approval.request.js';
import { ApprovalStore } from './approval.store.js';
import { type GuardedAction, type GuardedActionKind, type Executor, summaryOf } from './guarded-action.js';

/** Whether an action may be recorded now (`free`), was recorded before, or waits for its approval. */
export type HoldOutcome =
  | { readonly kind: 'free' }
  | { readonly kind: 'recorded' }
  | { readonly kind: 'waiting'; readonly approval: Approval };

/**
 * Makes actions that exceed a limit, or always need approval, wait until a second person approves them. Contract,
 * section 9, "Limits and approvals".
 *
 * An action is carried out exactly once, even after a crash: the decision and the record of the action (an unsent
 * grant, the grants of a batch, the claim of an adjustment, a settlement) are committed in one transaction. The rest is
 * ordinary work of the action's module, which continues after a crash. The result is read from that record and not
 * stored a second time.
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
    this.metrics.addGauge({
      name: 'croupier_approvals_waiting',
      help: 'Actions that wait for the approval of a second person; all instances report the same value',
      labelNames: ['operator'],
      read: () => this.approvals.waitingByOperator(),
    });
  }

  /** Registers the executor of a kind of action. Called by its module at start. */
  register<Kind extends GuardedActionKind>(kind: Kind, executor: Executor<Kind>): void {
    this.executors.set(kind, executor);
  }

  /**
   * Judges an action by the limits of its operator, and requests approval if it exceeds one or always needs approval. A
   * `free` action must be recorded in the same transaction, which locks the limit until it ends.
   * @throws CroupierError CONFLICT if a different action with this reference waits, or the waiting one has just been
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
    if (waiting) return { kind: 'waiting', approval: requireSame(waiting, action) };
    if (action.stake && !limit) return { kind: 'free' };
    // Checked after the waiting approvals, so that an action that was approved between the two checks is found here.
    if (await this.executorOf(action.kind).isRecorded(query, action.terms)) return { kind: 'recorded' };
    const requested = await this.approvals.request(query, this.randomness.uuid(), actor, action, limit);
    const approval = requested ?? (await this.approvals.waiting(query, action));
    if (!approval) throw new CroupierError('CONFLICT', 'the same request is being decided; try again', WAIT);
    if (requested) {
      const after = { summary: summaryOf(action), ...(limit && { limit }), terms: action.terms };
      await record({ action: 'approval.ask', target: targetOf(requested), after });
    }
    return { kind: 'waiting', approval: requireSame(approval, action) };
  }

  /**
   * @param operatorId the operator whose approvals of grants and batches are visible; undefined for all
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
  async list(query: ApprovalQuery): Promise<PageOf<Approval>> {
    await this.approvals.expire();
    return pageByTime(
      query,
      isUuid,
      ({ before, limit }) => this.approvals.page(query, before, limit),
      (approval) => approval,
    );
  }

  /**
   * Approves and carries out the action. Approving again returns its outcome.
   * @throws CroupierError NOT_FOUND · FORBIDDEN if the role does not permit the action, or the approver is the
   *   requester or a key that the requester created · CONFLICT if the approval is REJECTED or EXPIRED
   */
  async approve(actor: Actor, approvalId: string): Promise<ApprovalWithResult> {
    const approval = await this.find(approvalId);
    assertRole(actor, this.executorOf(approval.kind));
    await this.assertAnotherPerson(actor, approval);
    const finish = await this.recordAction(actor, approval).catch((error: unknown) => {
      // Everything that the action wrote is rolled back, including the decision, so a crash here leaves the approval
      // WAITING.
      if (error instanceof CroupierError) return this.recordFailure(actor, approval, error);
      throw error;
    });
    await finish?.();
    const decided = await this.find(approvalId);
    if (!finish && decided.state !== 'APPROVED') throw notWaiting(decided);
    return decided;
  }

  /**
   * Approves, and records the action in the same transaction.
   * @returns the remaining work; undefined if the approval is no longer WAITING
   * @throws CroupierError if the action is no longer possible; nothing is committed then
   */
  private recordAction(actor: Actor, approval: Approval): Promise<(() => Promise<void>) | undefined> {
    const { approvalId, kind, terms } = approval;
    return this.audit.change(actor, async (transaction, record) => {
      // An approved action counts towards the daily limit, so no other action may be judged until this one is committed.
      await this.limits.lock(transaction.query, approval);
      if (!(await this.approvals.decide(transaction.query, approvalId, 'APPROVED', actor, null))) return;
      const finish = await this.executorOf(kind).record(transaction, record, terms);
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
   * Rejects the action. The requester may do so, too, which withdraws it.
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
   * Refuses the requester, and keys that the requester created.
   * @throws CroupierError FORBIDDEN
   */
  private async assertAnotherPerson({ actor }: Actor, { askedBy }: Approval): Promise<void> {
    if (actor === askedBy) {
      throw new CroupierError('FORBIDDEN', 'this needs a person other than the requester');
    }
    if (await this.keys.isMadeBy(actor, askedBy)) {
      throw new CroupierError('FORBIDDEN', 'this needs another person: the requester created this key');
    }
  }

  private executorOf<Kind extends GuardedActionKind>(kind: Kind): Executor<Kind> {
    const executor = this.executors.get(kind);
    if (!executor) throw new Error(`no executor is registered for the kind ${kind}`);
    return executor;
  }
}

/**
 * Whether an operator may see an approval: it sees those of grants and batches for its players, including the ones that an
 * administrator requested, but no adjustments or settlements.
 */
function isVisibleTo(operatorId: string, approval: Approval): boolean {
  return approval.operatorId === operatorId && (approval.kind === 'grant' || approval.kind === 'batch');
}

const WAIT = { 'X-Next-Action': 'wait-then-retry' };

/** @throws CroupierError FORBIDDEN */
function assertRole({ roles = [] }: Actor, { role }: Pick<Executor<GuardedActionKind>, 'role'>): void {
  if (!holds(roles, role)) throw new CroupierError('FORBIDDEN', `this needs the role ${role}`);
}

const DIFFERS: Readonly<Record<GuardedActionKind, string>> = {
  grant: 'this requestRef was already used with another request',
  batch: 'this batchRef was already used with another request',
  adjustment: 'this adjustmentId was already used with another request',
  settlement: 'another answer for this transaction already waits for approval',
};

/** @throws CroupierError CONFLICT if the waiting action differs from the request */
function requireSame(waiting: Approval, { fingerprint, kind }: GuardedAction): Approval {
  if (waiting.fingerprint.equals(fingerprint)) return waiting;
  throw new CroupierError('CONFLICT', DIFFERS[kind]);
}

function notWaiting({ state }: Approval): CroupierError {
  return new CroupierError('CONFLICT', `the approval is ${state}: only a WAITING one can be decided`);
}

function targetOf({ approvalId }: Approval): string {
  return `approval:${approvalId}`;
}
