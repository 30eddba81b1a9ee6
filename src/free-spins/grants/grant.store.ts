import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Configuration } from '../../config/configuration.js';
import { Database, type Query, type Statement } from '../../database/database.js';
import { Metrics } from '../../observability/metrics.js';
import { currentRequestId } from '../../observability/trace.js';
import { callbackLeaseSeconds } from '../../provider-callback/callback-lease.js';
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

/** The operator and provider of a grant. */
export type Tenants = Pick<Grant, 'operatorId' | 'providerId'>;

/** The new state of a changed grant, to be counted in the metrics. */
export type Reached = Tenants & Pick<Grant, 'state'>;

/** What else was recorded with a grant that has become GRANTED. */
interface Recorded {
  /** The number of the claimed cancel; null if none was claimed. */
  readonly cancelAttempt: number | null;
  readonly duplicateOf: string | null;
}

/** Reads and writes grants; every update is conditional on the current state. */
@Injectable()
export class GrantStore {
  private readonly leaseSeconds: number;

  constructor(
    private readonly database: Database,
    @InjectRepository(Grant) private readonly grants: Repository<Grant>,
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

  /** Counts grants in the metrics by the states that they have reached. */
  count(grants: readonly Reached[]): void {
    for (const { operatorId, providerId, state } of grants)
      this.metrics.grantReached(operatorId, providerId, state);
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
