import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Configuration } from '../../config/configuration.js';
import { Database, type Query, type Statement } from '../../database/database.js';
import type { Place } from '../../http/lists/time-page.js';
import { Metrics } from '../../observability/metrics.js';
import { currentRequestId } from '../../observability/trace.js';
import { callbackLeaseSeconds } from '../../provider-callback/callback-lease.js';
import { Batch } from '../batches/batch.entity.js';
import { type BatchFilter, batchPage, type BatchProgress, PROGRESS } from '../batches/batch.sql.js';
import { Grant, type GrantState } from './grant.entity.js';
import { type GrantFilter, grantPage } from './grant-page.store.js';
import * as sql from './grant.sql.js';
import type { Failure } from '../rules/answers.js';

/** The fields with which a new grant is recorded. */
export type NewGrant = Readonly<
  Pick<
    Grant,
    | 'requestRef'
    | 'operatorId'
    | 'providerId'
    | 'playerRef'
    | 'gameId'
    | 'spins'
    | 'betAmountMinor'
    | 'currency'
  >
>;

export interface NewBatch
  extends Omit<NewGrant, 'requestRef' | 'playerRef'>, Pick<Batch, 'batchId' | 'batchRef' | 'fingerprint'> {
  readonly players: readonly { readonly requestRef: string; readonly playerRef: string }[];
}

/** The operator and provider of a grant. */
type Tenants = Pick<Grant, 'operatorId' | 'providerId'>;

/** The new state of a changed grant, to be counted in the metrics. */
type Reached = Tenants & Pick<Grant, 'state'>;

/** What else was recorded with a grant that has become GRANTED. */
interface Recorded {
  /** The number of the claimed cancel; null if none was claimed. */
  readonly cancelAttempt: number | null;
  readonly duplicateOf: string | null;
}

/** Reads and writes grants and their batches; every update is conditional on the current state. */
@Injectable()
export class GrantStore {
  private readonly leaseSeconds: number;

  constructor(
    private readonly database: Database,
    @InjectRepository(Grant) private readonly grants: Repository<Grant>,
    @InjectRepository(Batch) private readonly batches: Repository<Batch>,
    private readonly metrics: Metrics,
    configuration: Configuration,
  ) {
    this.leaseSeconds = callbackLeaseSeconds(configuration);
  }

  find(requestRef: string): Promise<Grant | null> {
    return this.grants.findOneBy({ requestRef });
  }

  /**
   * Newest first.
   * @param before only grants with a lower grantNo
   */
  list(filter: GrantFilter, before: number | undefined, limit: number): Promise<Grant[]> {
    return this.grants.find(grantPage(filter, before, limit));
  }

  /** @returns false if the requestRef is taken */
  async record(query: Query, grant: NewGrant): Promise<boolean> {
    const { requestRef, operatorId, providerId, playerRef, gameId, spins, betAmountMinor, currency } = grant;
    const rows = await query(sql.RECORD, [
      requestRef,
      operatorId,
      providerId,
      playerRef,
      gameId,
      spins,
      betAmountMinor,
      currency,
      this.leaseSeconds,
    ]);
    return rows.length > 0;
  }

  /**
   * Records an unsent grant, to be claimed by its requestRef or by the `BatchRunner` of any instance.
   * @returns as `record`
   */
  async recordUnsent(query: Query, grant: NewGrant): Promise<boolean> {
    const rows = await query(sql.RECORD_UNSENT, [
      grant.requestRef,
      grant.operatorId,
      grant.providerId,
      grant.playerRef,
      grant.gameId,
      grant.spins,
      grant.betAmountMinor,
      grant.currency,
      currentRequestId(),
    ]);
    return rows.length > 0;
  }

  async isRecorded(query: Query, requestRef: string): Promise<boolean> {
    return (await query(sql.IS_RECORDED, [requestRef])).length > 0;
  }

  async isBatchRecorded(query: Query, batchRef: string): Promise<boolean> {
    return (await query(sql.IS_BATCH_RECORDED, [batchRef])).length > 0;
  }

  /**
   * Claims an unsent grant by its requestRef.
   * @returns undefined if it was claimed before
   */
  async claim(requestRef: string): Promise<Grant | undefined> {
    return (await this.database.query<Grant>(sql.CLAIM, [requestRef, this.leaseSeconds]))[0];
  }

  /** @returns the new attempt; undefined if the grant is no longer FAILED */
  async resend(query: Query, requestRef: string): Promise<number | undefined> {
    const [row] = await query<{ attempt: number }>(sql.RESEND, [requestRef, this.leaseSeconds]);
    return row?.attempt;
  }

  /** @returns the new attempt; undefined if the grant is not FAILED with an unknown outcome */
  async void(query: Query, requestRef: string): Promise<number | undefined> {
    const values = [requestRef, this.leaseSeconds, currentRequestId()];
    const [row] = await query<{ attempt: number }>(sql.VOID, values);
    return row?.attempt;
  }

  /**
   * @param claimsCancel whether to claim the cancel as well, if it is due
   * @returns undefined if the grant is GRANTED or CANCELLED already
   */
  async recordGranted(
    { requestRef, providerId, operatorId, playerRef }: Grant,
    externalRef: string,
    claimsCancel: boolean,
  ): Promise<Recorded | undefined> {
    const owner = JSON.stringify([providerId, operatorId, playerRef, externalRef]);
    const [recorded] = await this.database.transaction(async ({ query }) => {
      await query(sql.LOCK_EXTERNAL_REF, [owner]);
      return query<Recorded>(sql.GRANTED, [requestRef, externalRef, claimsCancel, this.leaseSeconds]);
    });
    if (recorded) this.count([{ operatorId, providerId, state: 'GRANTED' }]);
    return recorded;
  }

  async recordFailed(requestRef: string, attempt: number, failure: Failure): Promise<void> {
    const { status, error, outcomeUnknown, refused } = failure;
    await this.move('FAILED', sql.FAILED, [
      requestRef,
      attempt,
      status ?? null,
      error,
      outcomeUnknown,
      refused,
    ]);
  }

  /** @returns the requestRefs of the grants that failed because their lease expired */
  async expire(error: string): Promise<string[]> {
    const rows = await this.move<{ requestRef: string }>('FAILED', sql.EXPIRE, [error]);
    return rows.map(({ requestRef }) => requestRef);
  }

  async recordStatus(requestRef: string, remainingSpins: number, completed: boolean): Promise<void> {
    await this.database.query(sql.SNAPSHOT, [requestRef, remainingSpins, completed]);
  }

  /** @returns the cancel's number; undefined if another is under way or the grant is no longer GRANTED */
  async claimCancel(query: Query, requestRef: string): Promise<number | undefined> {
    const values = [requestRef, this.leaseSeconds];
    const [row] = await query<{ cancelAttempt: number }>(sql.CLAIM_CANCEL, values);
    return row?.cancelAttempt;
  }

  async recordCancelled(requestRef: string): Promise<void> {
    await this.move('CANCELLED', sql.CANCELLED, [requestRef]);
  }

  async recordCancelFailed(requestRef: string, cancelAttempt: number, error: string): Promise<void> {
    await this.database.query(sql.CANCEL_FAILED, [requestRef, cancelAttempt, error]);
  }

  /** @returns false if the batchRef is taken */
  async recordBatch(query: Query, batch: NewBatch): Promise<boolean> {
    const { batchId, batchRef, operatorId, fingerprint, providerId, gameId, spins } = batch;
    const rows = await query(sql.RECORD_BATCH, [
      batchId,
      batchRef,
      operatorId,
      fingerprint,
      providerId,
      gameId,
      spins,
      batch.betAmountMinor,
      batch.currency,
      batch.players.map(({ requestRef }) => requestRef),
      batch.players.map(({ playerRef }) => playerRef),
      currentRequestId(),
    ]);
    return rows.length > 0;
  }

  batchByRef(batchRef: string): Promise<Batch | null> {
    return this.batches.findOneBy({ batchRef });
  }

  /** The grants of a batch in the order of its players. */
  batch(batchId: string): Promise<Grant[]> {
    return this.grants.find({ where: { batchId }, order: { grantNo: 'ASC' } });
  }

  /**
   * The progress of a batch; undefined if there is no such batch.
   * @param operatorId undefined for any operator
   */
  async progress(batchId: string, operatorId: string | undefined): Promise<BatchProgress | undefined> {
    return (await this.database.query<BatchProgress>(PROGRESS, [batchId, operatorId]))[0];
  }

  /** Newest first. */
  batchPage(
    filter: BatchFilter,
    before: Place | undefined,
    limit: number,
  ): Promise<(BatchProgress & { place: string })[]> {
    const { statement, values } = batchPage(filter, before, limit);
    return this.database.query(statement, values);
  }

  /**
   * Cancels unsent grants, and makes a cancel due for each grant that is GRANTED or may become so.
   * @returns `changed`: the number of changed grants; `reached`: the grants with a new state, to be passed to `count`
   *   after the commit
   */
  async cancelBatch(
    query: Query,
    batchId: string,
    error: string,
  ): Promise<{ changed: number; reached: readonly Reached[] }> {
    const reached = await query<Reached & { requestRef: string }>(sql.CANCEL_UNSENT, [batchId, error]);
    // Runs second, so that it also covers grants that another instance claimed before the first statement could cancel
    // them: they may still be granted, so a cancel must follow.
    const due = await query<{ requestRef: string }>(sql.MAKE_CANCELS_DUE, [batchId, currentRequestId()]);
    // Both statements change the same grant if it waits to be resent and the provider may already have booked it. Such a
    // grant is counted once.
    const changed = new Set([...reached, ...due].map(({ requestRef }) => requestRef));
    return { changed: changed.size, reached };
  }

  /** Counts grants in the metrics by the states that they have reached. */
  count(grants: readonly Reached[]): void {
    for (const { operatorId, providerId, state } of grants)
      this.metrics.grantReached(operatorId, providerId, state);
  }

  /** @returns how many grants were queued */
  async resendBatch(query: Query, batchId: string, includeUnknown: boolean): Promise<number> {
    return (await query(sql.RESEND_BATCH, [batchId, includeUnknown, currentRequestId()])).length;
  }

  /** Claims a provider's next due cancel. */
  async claimDueCancel(providerId: string): Promise<(Grant & { cancelAttempt: number }) | undefined> {
    const values = [providerId, this.leaseSeconds];
    return (await this.database.query<Grant & { cancelAttempt: number }>(sql.CLAIM_DUE_CANCEL, values))[0];
  }

  /** @returns the number of cancels that failed */
  async failCancels(batchId: string, error: string): Promise<number> {
    return (await this.database.query(sql.FAIL_CANCELS, [batchId, error])).length;
  }

  async providersWithWork(): Promise<string[]> {
    const rows = await this.database.query<{ providerId: string }>(sql.PROVIDERS_WITH_WORK, []);
    return rows.map(({ providerId }) => providerId);
  }

  /** Claims the next unsent grant of a provider. Once the claim is committed, no other instance sends the grant. */
  async claimUnsent(providerId: string): Promise<Grant | undefined> {
    const [grant] = await this.database.query<Grant>(sql.CLAIM_UNSENT, [providerId, this.leaseSeconds]);
    return grant;
  }

  /** @returns the number of grants that failed */
  async failUnsent(batchId: string, error: string): Promise<number> {
    return (await this.move('FAILED', sql.FAIL_UNSENT, [batchId, error])).length;
  }

  /** The number of PENDING grants, by operator and provider. */
  pending(): Promise<{ operatorId: string; providerId: string; count: number }[]> {
    return this.database.query(sql.PENDING, []);
  }

  /**
   * Runs a statement that changes the state of grants, and counts them in the metrics. The statement must return their
   * operators and providers.
   */
  private async move<Row extends object>(
    state: GrantState,
    statement: Statement,
    values: readonly unknown[],
  ): Promise<(Row & Tenants)[]> {
    const rows = await this.database.query<Row & Tenants>(statement, values);
    this.count(rows.map(({ operatorId, providerId }) => ({ operatorId, providerId, state })));
    return rows;
  }
}
