import { Injectable, Logger } from '@nestjs/common';
import {
  type CallbackOutcome,
  ProviderCallbacks,
} from '../../provider-callback/provider-callbacks.service.js';
import type { Grant } from './grant.entity.js';
import { GrantStore } from './grant.store.js';
import { type Failure, judgeCancel, judgeGrant, judgeStatus } from '../rules/answers.js';

const UNKNOWN_OUTCOME =
  'no outcome was recorded in time: the platform may have stopped while the provider was called';

/**
 * Sends callbacks about grants to their providers, without retries, and records the outcomes.
 *
 * Invariant: a grant or cancel callback is sent only after this instance has committed its claim. If the instance
 * crashes, the lease of the claim expires. Then a grant becomes FAILED with `outcomeUnknown`, and a cancel can be sent
 * again, which `BatchRunner` does if it is due.
 */
@Injectable()
export class GrantCallbacks {
  private readonly logger = new Logger('FreeSpins');

  constructor(
    private readonly callbacks: ProviderCallbacks,
    private readonly grants: GrantStore,
  ) {}

  /**
   * Sends the callback of a claimed attempt once, and records the outcome.
   * @param claimsCancel whether to claim a due cancel of the grant, too. If true, the caller must send the claimed
   *   cancel; if false, `BatchRunner` sends a due cancel
   * @returns `cancelAttempt` if the cancel was claimed
   */
  async send(
    grant: Grant,
    attempt: number,
    claimsCancel = false,
  ): Promise<{ outcome: CallbackOutcome; cancelAttempt?: number }> {
    const { requestRef, playerRef, gameId, spins, betAmountMinor, currency } = grant;
    const body = { requestRef, playerRef, gameId, spins, betAmountMinor, currency };
    const outcome = await this.call('/v1/game/free-spins/grant', grant, body);
    const judged = judgeGrant(outcome);
    if (!judged.ok) {
      this.logUnusable(grant, outcome, judged.failure);
      await this.grants.recordFailed(requestRef, attempt, judged.failure);
      return { outcome };
    }
    const cancelAttempt = await this.recordGranted(grant, judged.externalRef, claimsCancel);
    return { outcome, ...(cancelAttempt != null && { cancelAttempt }) };
  }

  /** Fails grants whose lease has expired, as after a crash. Called periodically and before grants are returned. */
  async expire(): Promise<void> {
    for (const requestRef of await this.grants.expire(UNKNOWN_OUTCOME)) {
      this.logger.error({ msg: 'the outcome of a grant callback is not known', requestRef });
    }
  }

  /**
   * Sends the callback of a claimed cancel once, and records the outcome.
   * @returns `failure` if the provider did not answer 200
   */
  async sendCancel(
    grant: Grant,
    cancelAttempt: number,
  ): Promise<{ outcome: CallbackOutcome; failure?: Failure }> {
    const outcome = await this.call('/v1/game/free-spins/cancel', grant, bodyOf(grant));
    const judged = judgeCancel(outcome);
    if (judged.ok) {
      await this.grants.recordCancelled(grant.requestRef);
      return { outcome };
    }
    await this.grants.recordCancelFailed(grant.requestRef, cancelAttempt, judged.failure.error);
    return { outcome, failure: judged.failure };
  }

  /** Asks the provider for the remaining spins of a grant with an externalRef. Does not change the grant. */
  async pullStatus(grant: Grant): Promise<ReturnType<typeof judgeStatus>> {
    const outcome = await this.call('/v1/game/free-spins/status', grant, bodyOf(grant));
    const judged = judgeStatus(outcome);
    if (!judged.ok) this.logUnusable(grant, outcome, judged.failure);
    return judged;
  }

  /** @returns the number of the claimed cancel, if any */
  private async recordGranted(
    grant: Grant,
    externalRef: string,
    claimsCancel: boolean,
  ): Promise<number | null | undefined> {
    const { requestRef } = grant;
    const granted = await this.grants.recordGranted(grant, externalRef, claimsCancel);
    if (granted?.duplicateOf != null) {
      const { duplicateOf } = granted;
      this.logger.error({
        msg: 'the provider answered with the externalRef of another live grant of the player: winnings count there',
        requestRef,
        duplicateOf,
        externalRef,
      });
    }
    if (granted) return granted.cancelAttempt;
    const stored = await this.grants.find(requestRef);
    if (stored?.externalRef === externalRef) return undefined;
    const kept = stored?.externalRef;
    this.logger.error({
      msg: 'the provider answered with a different externalRef for the same grant',
      requestRef,
      kept,
      externalRef,
    });
    return undefined;
  }

  /** Logs a 200 with an unusable body; `ProviderCallbacks` logs all other failures. */
  private logUnusable({ requestRef }: Grant, outcome: CallbackOutcome, { error }: Failure): void {
    if (outcome.kind === 'unanswered' || outcome.status !== 200) return;
    const answer = outcome.words;
    this.logger.error({ msg: 'the provider answered 200 with an unusable body', requestRef, error, answer });
  }

  private call(
    route: Parameters<ProviderCallbacks['call']>[0]['route'],
    { providerId, requestRef }: Grant,
    body: object,
  ): Promise<CallbackOutcome> {
    return this.callbacks.call({ providerId, route, reference: requestRef, body });
  }
}

function bodyOf({ externalRef, playerRef, gameId }: Grant): object {
  return { externalRef, playerRef, gameId };
}
