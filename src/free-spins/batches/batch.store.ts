import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Configuration } from '../../config/configuration.js';
import { Database, type Query } from '../../database/database.js';
import type { Place } from '../../database/place.js';
import { currentRequestId } from '../../observability/trace.js';
import { callbackLeaseSeconds } from '../../provider-callback/callback-lease.js';
import { Grant } from '../grants/grant.entity.js';
import { GrantStore, type NewGrant, type Reached, type Tenants } from '../grants/grant.store.js';
import { Batch } from './batch.entity.js';
import * as sql from './batch.sql.js';
import type { BatchFilter, BatchProgress } from './batch.sql.js';

export interface NewBatch
  extends Omit<NewGrant, 'requestRef' | 'playerRef'>, Pick<Batch, 'batchId' | 'batchRef' | 'fingerprint'> {
  readonly players: readonly { readonly requestRef: string; readonly playerRef: string }[];
}

/** Reads and writes batches and the queue of their grants; every update is conditional on the current state. */
@Injectable()
export class BatchStore {
  private readonly leaseSeconds: number;

  constructor(
    private readonly database: Database,
    @InjectRepository(Batch) private readonly batches: Repository<Batch>,
    @InjectRepository(Grant) private readonly items: Repository<Grant>,
    private readonly grants: GrantStore,
    configuration: Configuration,
  ) {
    this.leaseSeconds = callbackLeaseSeconds(configuration);
  }

  async isBatchRecorded(query: Query, batchRef: string): Promise<boolean> {
    return (await query(sql.IS_BATCH_RECORDED, [batchRef])).length > 0;
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
    return this.items.find({ where: { batchId }, order: { grantNo: 'ASC' } });
  }

  /**
   * The progress of a batch; undefined if there is no such batch.
   * @param operatorId undefined for any operator
   */
  async progress(batchId: string, operatorId: string | undefined): Promise<BatchProgress | undefined> {
    return (await this.database.query<BatchProgress>(sql.PROGRESS, [batchId, operatorId]))[0];
  }

  /** Newest first. */
  batchPage(
    filter: BatchFilter,
    before: Place | undefined,
    limit: number,
  ): Promise<(BatchProgress & { place: string })[]> {
    const { statement, values } = sql.batchPage(filter, before, limit);
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
    const failed = await this.database.query<Tenants>(sql.FAIL_UNSENT, [batchId, error]);
    this.grants.count(failed.map((tenants) => ({ ...tenants, state: 'FAILED' })));
    return failed.length;
  }
}
