import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Approval } from '../../approvals/approval.js';
import { ApprovalsService, type HoldOutcome, isFirst } from '../../approvals/approvals.service.js';
import type { BatchTerms, GuardedAction, Executor } from '../../approvals/guarded-action.js';
import type { Actor } from '../../audit/actor.js';
import { Audit, type RecordEntry } from '../../audit/audit.service.js';
import { RepeatedEntries } from '../../audit/repeated-entries.js';
import type { Transaction } from '../../database/database.js';
import { DatabaseClock } from '../../database/database-clock.js';
import { alreadyUsed } from '../../errors/already-used.js';
import { CroupierError } from '../../errors/croupier-error.js';
import { LimitsService } from '../../limits/limits.service.js';
import { addLogFields } from '../../observability/trace.js';
import { sha256 } from '../../runtime/digest.js';
import { Randomness } from '../../runtime/randomness.js';
import { type PageOf, type PageQuery } from '../../api/lists/page.js';
import { pageByTime } from '../../api/lists/time-page.js';
import { isUuid } from '../../api/validation/identifier.js';
import type { Batch } from './batch.entity.js';
import {
  type BatchFailuresResponse,
  type BatchItem,
  batchItem,
  type BatchProgress,
  type BatchResponse,
} from './batch.response.js';
import { grantResponse } from '../grants/grant.response.js';
import { type PreviewResponse, previewResponse } from '../grants/preview.response.js';
import { stakeOf } from '../grants/grants.service.js';
import { assertAhead, assertNotExpired, expiryOf } from '../grants/expiry.js';
import { GrantableGames, type Scope } from '../grants/grantable-games.js';
import { GrantCallbacks } from '../grants/grant-callbacks.js';
import { GrantStore, type NewGrant } from '../grants/grant.store.js';
import { QueueRunner } from '../queue/queue.runner.js';
import { type BatchFilter, BatchProgressStore } from './batch-progress.store.js';
import { BatchStore } from './batch.store.js';
import { StatusRunner } from './status.runner.js';

/** A requested batch. Contract, section 6. */
interface BatchOrder extends Omit<NewGrant, 'requestRef' | 'providerId' | 'playerRef' | 'expiresAt'> {
  /** 1 to 1000 unique references. */
  readonly playerRefs: readonly string[];
  readonly batchRef?: string | null;
  readonly expiresAt?: string | null;
}

/** A batch, new or known, or the approval that it waits for. */
export type BatchOutcome =
  | { readonly batchId: string; readonly stakeMinor: number; readonly replayed: boolean }
  | { readonly approval: Approval };

/** Records and reads batches; `QueueRunner` sends them. */
@Injectable()
export class BatchesService implements OnModuleInit {
  constructor(
    private readonly randomness: Randomness,
    private readonly games: GrantableGames,
    private readonly callbacks: GrantCallbacks,
    private readonly batches: BatchStore,
    private readonly progress: BatchProgressStore,
    private readonly grants: GrantStore,
    private readonly queue: QueueRunner,
    private readonly audit: Audit,
    private readonly limits: LimitsService,
    private readonly approvals: ApprovalsService,
    private readonly databaseClock: DatabaseClock,
    private readonly statusRunner: StatusRunner,
    private readonly repeated: RepeatedEntries,
  ) {}

  onModuleInit(): void {
    this.approvals.register('batch', this.approved);
  }

  /**
   * Records a batch, whose grants `QueueRunner` then sends; a known batchRef returns the stored batch. A batch above a
   * limit waits for approval.
   * @throws CroupierError INVALID_REQUEST · CONFLICT · GAME_NOT_CONFIGURED · OPERATOR_NOT_CONFIGURED
   */
  async create(actor: Actor, order: BatchOrder, scope: Scope): Promise<BatchOutcome> {
    const { batchRef } = order;
    const fingerprint = fingerprintOf(order);
    const known = batchRef == null ? null : await this.batches.batchByRef(batchRef);
    const stakeMinor = stakeOf(order, order.playerRefs.length);
    if (known) return { batchId: idOfSame(known, fingerprint), stakeMinor, replayed: true };
    const { providerId } = this.games.find(order, scope);
    const action = batchAction(this.randomness.uuid(), order);
    const outcome = await this.audit.change(actor, async (transaction, record): Promise<HoldOutcome> => {
      const holdOutcome = await this.approvals.hold(transaction, record, actor, action);
      // A repetition is not refused, although less time may be left until its expiresAt.
      if (isFirst(holdOutcome)) assertAhead(expiryOf(order.expiresAt), this.databaseClock.now());
      if (holdOutcome.kind !== 'free') return holdOutcome;
      return (await this.record(transaction, record, action.terms, providerId))
        ? holdOutcome
        : { kind: 'recorded' };
    });
    if (outcome.kind === 'waiting') return outcome;
    if (outcome.kind === 'recorded') {
      const stored = await this.batches.batchByRef(batchRef ?? '');
      if (!stored) throw new Error('a batch was neither recorded nor found');
      return { batchId: idOfSame(stored, fingerprint), stakeMinor, replayed: true };
    }
    addLogFields({ batchId: action.terms.batchId, operatorId: order.operatorId });
    this.queue.wake();
    return { batchId: action.terms.batchId, stakeMinor, replayed: false };
  }

  /** Records an approved batch with unsent grants, which any instance then sends. */
  readonly approved: Executor<'batch'> = {
    role: 'promotions',
    isRecorded: async (query, { batchRef }) =>
      batchRef !== null && (await this.batches.isBatchRecorded(query, batchRef)),
    record: async (transaction, record, terms) => {
      const { providerId } = this.games.find(terms, 'everybody');
      assertNotExpired(terms.expiresAt ?? null, this.databaseClock.now());
      if (!(await this.record(transaction, record, terms, providerId))) throw alreadyUsed('batchRef');
      return async () => this.queue.wake();
    },
    result: async ({ batchId, ...terms }) => ({
      batchId,
      stakeMinor: stakeOf(terms, terms.playerRefs.length),
    }),
  };

  /**
   * Computes the stake of a batch and whether the batch needs approval.
   * @throws CroupierError as `create` does, except CONFLICT
   */
  async preview(order: BatchOrder): Promise<PreviewResponse> {
    this.games.find(order, 'everybody');
    assertAhead(expiryOf(order.expiresAt), this.databaseClock.now());
    const { terms, stake } = batchAction('preview', order);
    return previewResponse(terms, stake, await this.limits.preview(terms, stake), terms.playerRefs.length);
  }

  /** @returns false if the batchRef is taken */
  private async record(
    { query }: Transaction,
    record: RecordEntry,
    { playerRefs, ...terms }: BatchTerms,
    providerId: string,
  ): Promise<boolean> {
    const players = playerRefs.map((playerRef) => ({ requestRef: this.randomness.uuid(), playerRef }));
    const fingerprint = fingerprintOf({ ...terms, playerRefs });
    const expiresAt = terms.expiresAt ?? null;
    if (!(await this.batches.recordBatch(query, { ...terms, expiresAt, fingerprint, providerId, players })))
      return false;
    const after = { ...terms, playerRefs };
    await record({ action: 'free-spins.batch', target: `batch:${terms.batchId}`, after });
    return true;
  }

  /**
   * Fails grants whose lease has expired, and returns a batch.
   * @param withItems whether to return its grants, too
   * @throws CroupierError NOT_FOUND
   */
  async find(batchId: string, scope: Scope, withItems: boolean): Promise<BatchResponse> {
    await this.callbacks.expire();
    const batch = await this.known(batchId, scope);
    if (!withItems) return batch;
    return { ...batch, items: (await this.batches.grantsOf(batchId)).map(grantResponse) };
  }

  /**
   * Fails grants whose lease has expired, and lists batches, newest first.
   * @throws CroupierError INVALID_REQUEST
   */
  async list(query: BatchFilter & PageQuery): Promise<PageOf<BatchItem>> {
    await this.callbacks.expire();
    return pageByTime<BatchProgress & { place: string }, BatchItem>(
      query,
      isUuid,
      ({ before, limit }) => this.progress.page(query, before, limit),
      batchItem,
    );
  }

  /**
   * The batches in `known`, and others that run if there is room, newest first. A batch runs while it has PENDING grants
   * or due cancels, and in its first 10 seconds. Contract, section 9, "Live view", has the bounds.
   * @param known batches that have been read before, whether they still run or not
   */
  async running(known: readonly string[]): Promise<{ batch: BatchItem; running: boolean }[]> {
    const rows = await this.progress.running(known);
    return rows.map(({ running, ...batch }) => ({ batch: batchItem(batch), running }));
  }

  /**
   * Cancels a batch: unsent grants are never sent, and GRANTED ones are cancelled at the provider, each once. A second
   * call sends failed cancels once more.
   * @throws CroupierError NOT_FOUND
   */
  async cancel(actor: Actor, batchId: string, scope: Scope): Promise<BatchItem> {
    await this.known(batchId, scope);
    const reached = await this.audit.change(actor, async ({ query }, record) => {
      const cancelled = await this.batches.cancelBatch(query, batchId, NOT_SENT_AGAIN);
      const after = { grants: cancelled.changed };
      if (after.grants > 0)
        await record({ action: 'free-spins.batch-cancel', target: `batch:${batchId}`, after });
      return cancelled.reached;
    });
    this.grants.count(reached);
    this.queue.wake();
    return this.known(batchId, scope);
  }

  /**
   * Sends the FAILED grants of a batch once more, unless they have expired.
   * @param includeUnknown whether to send FAILED grants of unknown outcome, too
   * @throws CroupierError NOT_FOUND · CONFLICT if that would exceed the daily limit · GAME_NOT_CONFIGURED ·
   *   OPERATOR_NOT_CONFIGURED · INVALID_REQUEST if the operator no longer accepts the currency
   */
  async resend(actor: Actor, batchId: string, includeUnknown: boolean, scope: Scope): Promise<BatchItem> {
    const batch = await this.known(batchId, scope);
    this.games.assertResendable(batch, scope);
    await this.audit.change(actor, async ({ query }, record) => {
      const grants = await this.limits.withinDay(query, batch, () =>
        this.batches.resendBatch(query, batchId, includeUnknown),
      );
      const after = { grants, includeUnknown };
      if (grants > 0) await record({ action: 'free-spins.batch-resend', target: `batch:${batchId}`, after });
    });
    this.queue.wake();
    return this.known(batchId, scope);
  }

  /**
   * Has the provider asked about each GRANTED grant of a batch, in the background. Another request while that is under
   * way has it asked again about the grants that have no answer since the latest run was requested.
   * @throws CroupierError NOT_FOUND
   */
  async pullStatus(actor: Actor, batchId: string, scope: Scope): Promise<BatchItem> {
    const batch = await this.known(batchId, scope);
    await this.repeated.record(actor, { action: 'free-spins.batch-status', target: `batch:${batchId}` });
    await this.statusRunner.request(batchId);
    return batch;
  }

  /**
   * Fails grants whose lease has expired, and returns the failures of a batch, the most frequent first.
   * @throws CroupierError NOT_FOUND
   */
  async failures(batchId: string, scope: Scope): Promise<BatchFailuresResponse> {
    await this.callbacks.expire();
    await this.known(batchId, scope);
    return { items: await this.progress.failures(batchId) };
  }

  private async known(batchId: string, scope: Scope): Promise<BatchItem> {
    const batch = await this.progress.of(batchId, scope === 'everybody' ? undefined : scope.operatorId);
    if (!batch) throw new CroupierError('NOT_FOUND', 'no such batch');
    return batchItem(batch);
  }
}

const NOT_SENT_AGAIN = 'not sent again: its batch was cancelled';

/** @throws CroupierError INVALID_REQUEST if the stake exceeds 2^53−1 */
function batchAction(batchId: string, order: BatchOrder) {
  const { batchRef = null, operatorId, gameId, spins, betAmountMinor, currency, playerRefs } = order;
  const expiresAt = expiryOf(order.expiresAt);
  const terms: BatchTerms = {
    batchId,
    batchRef,
    operatorId,
    gameId,
    spins,
    betAmountMinor,
    currency,
    playerRefs,
    ...(expiresAt !== null && { expiresAt }),
  };
  return {
    kind: 'batch',
    reference: batchRef ?? batchId,
    terms,
    fingerprint: fingerprintOf(order),
    stake: {
      kind: 'batch',
      amountMinor: stakeOf(order, playerRefs.length),
      ofEachMinor: stakeOf(order),
    },
  } as const satisfies GuardedAction;
}

/** Does not depend on the order of the players. Without expiresAt, the fingerprint is that of earlier versions. */
function fingerprintOf(order: BatchOrder): Buffer {
  const { operatorId, gameId, spins, betAmountMinor, currency, playerRefs } = order;
  const expiresAt = expiryOf(order.expiresAt);
  const fields = [operatorId, gameId, spins, betAmountMinor, currency, [...playerRefs].sort()];
  return sha256(JSON.stringify(expiresAt === null ? fields : [...fields, expiresAt]));
}

/** @throws CroupierError CONFLICT if the stored batch differs from the request */
function idOfSame(stored: Batch, fingerprint: Buffer): string {
  if (stored.fingerprint.equals(fingerprint)) return stored.batchId;
  throw alreadyUsed('batchRef');
}
