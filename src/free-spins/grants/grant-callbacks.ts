import { Injectable, Logger } from '@nestjs/common';
import { runUntraced } from '../../observability/trace.js';
import type { Claim } from '../../provider-callback/callback-lease.js';
import {
  type CallbackOutcome,
  isNotMade,
  ProviderCallbacks,
} from '../../provider-callback/provider-callbacks.service.js';
import type { Grant } from './grant.entity.js';
import { type ClaimedCancel, type ClaimedGrant, type GrantedGrant, GrantStore } from './grant.store.js';
import { type Failure, judgeCancel, judgeGrant, judgeStatus } from '../rules/answers.js';

const UNKNOWN_OUTCOME =
  'no outcome was recorded in time: the platform may have stopped while the provider was called';

/** A grant as stored after its callback; with the fields of a claim if its outcome was recorded as GRANTED. */
type SentGrant = Grant & Partial<GrantedGrant>;

/**
 * Sends callbacks about grants to their providers, without retries, and records the outcomes.
 *
 * Invariant: a grant or cancel callback is sent only after this instance has committed its claim, and only while the lease
 * of the claim is longer than the call may take. If the instance crashes, the lease expires. Then a grant becomes FAILED
 * with `outcomeUnknown`, and a cancel can be sent again, which `QueueRunner` does if it is due.
 */
@Injectable()
export class GrantCallbacks {
  private readonly logger = new Logger('FreeSpins');

  constructor(
    private readonly callbacks: ProviderCallbacks,
    private readonly grants: GrantStore,
  ) {}

  /**
   * Sends the callback of the grant's claimed attempt once, and records the outcome.
   * @param claimsCancel whether to claim a due cancel of the grant, too. If true, the caller must send the claimed
   *   cancel; if false, `QueueRunner` sends a due cancel
   * @returns the grant as stored afterwards; `cancelAttempt` if the cancel was claimed
   */
  async send(grant: ClaimedGrant, claimsCancel = false): Promise<SentGrant> {
    return this.recordOutcome(grant, await this.callGrant(grant), claimsCancel);
  }

  /**
   * Sends the callback of a claimed grant of the queue once, and records the outcome. If the call could not be made, the
   * grant waits to be sent again.
   */
  async sendQueued(grant: ClaimedGrant): Promise<CallbackOutcome> {
    const outcome = await this.callGrant(grant);
    if (isNotMade(outcome)) await this.grants.unclaim(grant, outcome.error);
    else await this.recordOutcome(grant, outcome, false);
    return outcome;
  }

  /** Fails grants whose lease has expired, as after a crash. Called periodically and before grants are returned. */
  async expire(): Promise<void> {
    const expired = await this.grants.expire(UNKNOWN_OUTCOME);
    // They may belong to other operators than the request that returns grants.
    runUntraced(() => {
      for (const { requestRef, operatorId, providerId } of expired)
        this.logger.error({
          msg: 'the outcome of a grant callback is not known',
          requestRef,
          operatorId,
          providerId,
        });
    });
  }

  /**
   * Sends the callback of a claimed cancel once, and records the outcome. If the call could not be made, a cancel that is
   * due stays due.
   * @returns the grant as stored afterwards; `failure` if the provider did not answer 200
   */
  async sendCancel(
    cancel: ClaimedCancel,
  ): Promise<{ outcome: CallbackOutcome; grant: Grant; failure?: Failure }> {
    const { requestRef } = cancel;
    const outcome = await this.call('/v1/game/free-spins/cancel', cancel, bodyOf(cancel), cancel);
    const judged = judgeCancel(outcome);
    const recorded = await this.recordCancel(cancel, outcome, judged);
    const grant = recorded ?? (await this.grants.stored(requestRef));
    return { outcome, grant, ...(!judged.ok && { failure: judged.failure }) };
  }

  /** Asks the provider for the remaining spins of a grant with an externalRef. Does not change the grant. */
  async pullStatus(grant: Grant): Promise<ReturnType<typeof judgeStatus>> {
    const outcome = await this.call('/v1/game/free-spins/status', grant, bodyOf(grant));
    const judged = judgeStatus(outcome);
    if (!judged.ok) this.logUnusable(grant, outcome, judged.failure);
    return judged;
  }

  /** @returns undefined if nothing was recorded: the cancel stays due, or its claim has ended */
  private async recordCancel(
    cancel: ClaimedCancel,
    outcome: CallbackOutcome,
    judged: ReturnType<typeof judgeCancel>,
  ): Promise<Grant | undefined> {
    if (judged.ok) return this.grants.recordCancelled(cancel.requestRef);
    if (isNotMade(outcome) && (await this.grants.unclaimCancel(cancel))) return undefined;
    return this.grants.recordCancelFailed(cancel, judged.failure.error);
  }

  private callGrant(grant: ClaimedGrant): Promise<CallbackOutcome> {
    const { requestRef, playerRef, gameId, spins, betAmountMinor, currency } = grant;
    const body = { requestRef, playerRef, gameId, spins, betAmountMinor, currency };
    return this.call('/v1/game/free-spins/grant', grant, body, grant);
  }

  private async recordOutcome(
    grant: Grant,
    outcome: CallbackOutcome,
    claimsCancel: boolean,
  ): Promise<SentGrant> {
    const judged = judgeGrant(outcome);
    if (judged.ok) return this.recordGranted(grant, judged.externalRef, claimsCancel);
    this.logUnusable(grant, outcome, judged.failure);
    const failed = await this.grants.recordFailed(grant, judged.failure);
    return failed ?? (await this.grants.stored(grant.requestRef));
  }

  private async recordGranted(grant: Grant, externalRef: string, claimsCancel: boolean): Promise<SentGrant> {
    const { requestRef } = grant;
    const granted = await this.grants.recordGranted(grant, externalRef, claimsCancel);
    if (granted) {
      const { duplicateOf } = granted;
      if (duplicateOf !== null)
        this.logger.error({
          msg: 'the provider answered with the externalRef of another live grant of the player: winnings count there',
          requestRef,
          duplicateOf,
          externalRef,
        });
      return granted;
    }
    const stored = await this.grants.stored(requestRef);
    if (stored.externalRef !== externalRef)
      this.logger.error({
        msg: 'the provider answered with a different externalRef for the same grant',
        requestRef,
        kept: stored.externalRef,
        externalRef,
      });
    return stored;
  }

  /** Logs a complete 200 with an unusable body; `ProviderCallbacks` logs all other failures. */
  private logUnusable({ requestRef }: Grant, outcome: CallbackOutcome, { error }: Failure): void {
    if (outcome.kind === 'unanswered' || outcome.status !== 200 || outcome.error !== undefined) return;
    const answer = outcome.words;
    this.logger.error({ msg: 'the provider answered 200 with an unusable body', requestRef, error, answer });
  }

  private call(
    route: Parameters<ProviderCallbacks['call']>[0]['route'],
    { providerId, requestRef }: Grant,
    body: object,
    claim?: Claim,
  ): Promise<CallbackOutcome> {
    return this.callbacks.call({ providerId, route, reference: requestRef, body, claim });
  }
}

function bodyOf({ externalRef, playerRef, gameId }: Grant): object {
  return { externalRef, playerRef, gameId };
}
