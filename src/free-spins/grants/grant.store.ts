import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Configuration } from '../../config/configuration.js';
import { Database, type Query } from '../../database/database.js';
import { Metrics } from '../../observability/metrics.js';
import { currentRequestId } from '../../observability/trace.js';
import { callbackLeaseSeconds, type Claim, claimWith } from '../../provider-callback/callback-lease.js';
import { Grant } from './grant.entity.js';
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
  > & {
    /** ISO 8601; null if the grant does not expire. */
    expiresAt: string | null;
  }
>;

/** A changed grant, to be counted in the metrics by its new state. */
export type Reached = Pick<Grant, 'operatorId' | 'providerId' | 'state'>;

/** A grant whose callback this instance has claimed. */
export type ClaimedGrant = Grant & Claim;

/** A grant whose cancel this instance has claimed, with its number. */
export type ClaimedCancel = ClaimedGrant & { readonly cancelAttempt: number };

/** A grant that has become GRANTED; `cancelAttempt` is null if its cancel was not claimed. */
export type GrantedGrant = ClaimedGrant & { readonly cancelAttempt: number | null };

/**
 * Reads and writes grants; every update is conditional on the current state. A write that begins or ends an attempt
 * returns the changed grant, or undefined if its condition did not hold. Outcomes of calls are written again if their
 * connection is lost; a repetition after a commit changes no later attempt or cancel.
 */
@Injectable()
export class GrantStore implements OnModuleInit {
  private readonly leaseSeconds: number;

  constructor(
    private readonly database: Database,
    @InjectRepository(Grant) private readonly grants: Repository<Grant>,
    private readonly metrics: Metrics,
    configuration: Configuration,
  ) {
    this.leaseSeconds = callbackLeaseSeconds(configuration);
  }

  onModuleInit(): void {
    this.metrics.addGauge({
      name: 'croupier_free_spin_grants_pending',
      help: 'Grants of free spins that are not sent yet, or whose outcome is not recorded yet; all instances report the same value',
      labelNames: ['operator', 'provider'],
      read: () => this.database.query(sql.PENDING, {}),
    });
  }

  find(requestRef: string): Promise<Grant | null> {
    return this.grants.findOneBy({ requestRef });
  }

  /** Reads a grant that was recorded earlier. Grants are never deleted. */
  stored(requestRef: string): Promise<Grant> {
    return this.grants.findOneByOrFail({ requestRef });
  }

  /**
   * Newest first.
   * @param before only grants with a lower grantNo
   */
  list(filter: GrantFilter, before: number | undefined, limit: number): Promise<Grant[]> {
    const { statement, values } = grantPage(filter, before, limit);
    return this.database.query<Grant>(statement, values);
  }

  /** Records a grant and its first attempt, unless the requestRef is taken. */
  record(query: Query, grant: NewGrant): Promise<ClaimedGrant | undefined> {
    return claimWith(query, sql.RECORD, { ...grant, leaseSeconds: this.leaseSeconds });
  }

  /**
   * Records an unsent grant, to be claimed by its requestRef or by the `QueueRunner` of any instance.
   * @returns false if the requestRef is taken
   */
  async recordUnsent(query: Query, grant: NewGrant): Promise<boolean> {
    return (await query(sql.RECORD_UNSENT, { ...grant, requestId: currentRequestId() })).length > 0;
  }

  async isRecorded(query: Query, requestRef: string): Promise<boolean> {
    return (await query(sql.IS_RECORDED, { requestRef })).length > 0;
  }

  /** Claims an unsent grant, unless it was claimed before. */
  claim(requestRef: string): Promise<ClaimedGrant | undefined> {
    return claimWith(this.database.query, sql.CLAIM, { requestRef, leaseSeconds: this.leaseSeconds });
  }

  /** Begins a new attempt of a grant, if it is FAILED and has not expired. */
  resend(query: Query, requestRef: string): Promise<ClaimedGrant | undefined> {
    return claimWith(query, sql.RESEND, { requestRef, leaseSeconds: this.leaseSeconds });
  }

  /** Begins a new attempt that ends in a cancel, if the grant is FAILED with an unknown outcome. */
  void(query: Query, requestRef: string): Promise<ClaimedGrant | undefined> {
    const values = { requestRef, leaseSeconds: this.leaseSeconds, requestId: currentRequestId() };
    return claimWith(query, sql.VOID, values);
  }

  /**
   * Makes a grant GRANTED, unless it is GRANTED or CANCELLED already.
   * @param claimsCancel whether to claim the cancel as well, if it is due
   * @returns `cancelAttempt`: the number of the claimed cancel; null if none was claimed
   */
  async recordGranted(
    { requestRef, providerId, operatorId, playerRef }: Grant,
    externalRef: string,
    claimsCancel: boolean,
  ): Promise<GrantedGrant | undefined> {
    const owner = JSON.stringify([providerId, operatorId, playerRef, externalRef]);
    const values = { requestRef, externalRef, claimsCancel, leaseSeconds: this.leaseSeconds };
    const granted = await this.database.persist(() =>
      this.database.transaction(async ({ query }) => {
        await query(sql.LOCK_EXTERNAL_REF, { owner });
        return claimWith<GrantedGrant>(query, sql.GRANTED, values);
      }),
    );
    return granted && this.count([granted])[0];
  }

  /** Records the failure of the grant's attempt, unless a later attempt has begun. */
  async recordFailed({ requestRef, attempt }: Grant, failure: Failure): Promise<Grant | undefined> {
    const values = { requestRef, attempt, ...failure, status: failure.status };
    const failed = await this.database.persistQuery<Grant & { readonly stateBefore: Grant['state'] }>(
      sql.FAILED,
      values,
    );
    this.count(failed.filter(({ stateBefore }) => stateBefore !== 'FAILED'));
    return failed[0];
  }

  /** Records that the provider was not called for the grant's attempt. */
  async recordNotSent(grant: Grant, error: string): Promise<void> {
    await this.recordFailed(grant, { error, outcomeUnknown: false, refused: false });
  }

  /**
   * Lets a grant of the queue wait to be sent again, because the call of its attempt could not be made. If that is not
   * possible any more, records that the provider was not called.
   */
  async unclaim(grant: Grant, error: string): Promise<void> {
    const unclaimed = await this.database.persistQuery(sql.UNCLAIM, grant);
    if (unclaimed.length === 0) await this.recordNotSent(grant, error);
  }

  /** @returns the grants that failed because their lease expired */
  async expire(error: string): Promise<readonly (Reached & { requestRef: string })[]> {
    return this.count(await this.database.query<Reached & { requestRef: string }>(sql.EXPIRE, { error }));
  }

  /** Stores the provider's answer to a status call. A completed grant stays completed. */
  async recordStatus(requestRef: string, remainingSpins: number, completed: boolean): Promise<void> {
    await this.database.query(sql.SNAPSHOT, { requestRef, remainingSpins, completed });
  }

  /**
   * Claims a cancel, unless another is under way, it would void a newer grant, or the grant is no longer GRANTED.
   * @param onlyDue whether to claim only a cancel that is due
   */
  claimCancel(query: Query, requestRef: string, onlyDue = false): Promise<ClaimedCancel | undefined> {
    const values = { requestRef, onlyDue, leaseSeconds: this.leaseSeconds };
    return claimWith(query, sql.CLAIM_CANCEL, values);
  }

  /** The requestRef of the newer grant that a cancel of this one would void. */
  async successorOf(requestRef: string): Promise<string | undefined> {
    const [successor] = await this.database.query<{ requestRef: string | null }>(sql.SUCCESSOR_OF, {
      requestRef,
    });
    return successor?.requestRef ?? undefined;
  }

  /** Makes a grant CANCELLED, unless it is no longer GRANTED. */
  async recordCancelled(requestRef: string): Promise<Grant | undefined> {
    return this.count(await this.database.persistQuery<Grant>(sql.CANCELLED, { requestRef }))[0];
  }

  /** Records the failure of a cancel, unless a later cancel was claimed or the grant is no longer GRANTED. */
  async recordCancelFailed(cancel: ClaimedCancel, error: string): Promise<Grant | undefined> {
    return (await this.database.persistQuery<Grant>(sql.CANCEL_FAILED, { ...cancel, error }))[0];
  }

  /**
   * Ends the claim of a cancel whose call could not be made, if the cancel is due, so that it is sent again.
   * @returns false if it is not due
   */
  async unclaimCancel(cancel: ClaimedCancel): Promise<boolean> {
    return (await this.database.persistQuery(sql.UNCLAIM_CANCEL, cancel)).length > 0;
  }

  /** Counts grants in the metrics by the states that they have reached, and returns them. */
  count<Changed extends Reached>(grants: readonly Changed[]): readonly Changed[] {
    for (const { operatorId, providerId, state } of grants)
      this.metrics.grantReached(operatorId, providerId, state);
    return grants;
  }
}
