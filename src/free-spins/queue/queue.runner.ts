import { Injectable, Logger } from '@nestjs/common';
import { Configuration } from '../../config/configuration.js';
import { Tracing } from '../../observability/tracing.js';
import { callbackStopMs } from '../../provider-callback/callback-lease.js';
import { type CallbackOutcome, isNotMade } from '../../provider-callback/provider-callbacks.service.js';
import { Background } from '../../runtime/background.js';
import type { BackgroundLoop } from '../../runtime/background-loop.js';
import { failureText } from '../../runtime/failure-text.js';
import { Randomness } from '../../runtime/randomness.js';
import { EXPIRED, GrantableGames, UNKNOWN_WHETHER_OPEN } from '../grants/grantable-games.js';
import { GrantCallbacks } from '../grants/grant-callbacks.js';
import type { Grant } from '../grants/grant.entity.js';
import { type ClaimedCancel, type ClaimedGrant, GrantStore } from '../grants/grant.store.js';
import { CALLS_AT_ONCE, CALLS_FOR_GRANTS, UNANSWERED_LIMIT } from './calls.js';
import { QueueStore } from './queue.store.js';

/** Polling interval for grants and cancels that another instance left unsent or without an outcome, in milliseconds. */
const POLL_MS = 5_000;
/**
 * Delay before the first poll, in milliseconds: a provider that restarts at the same time may not be up yet, and a
 * grant whose call fails is not retried.
 */
const FIRST_POLL_MS = 1_000;
/** Maximum number of expired grants that one statement changes, so that it holds few locks, and briefly. */
const EXPIRED_AT_ONCE = 1_000;

const PROVIDER_DOWN = `not sent: the provider gave no answer to ${UNANSWERED_LIMIT} calls in a row`;

/** What the workers of a provider know of its calls on one route. */
interface RouteState {
  /** Calls in a row without an answer. */
  unanswered: number;
  /** The operator that was served last; empty if none was. */
  operatorId: string;
}

interface ProviderWorkers {
  /** By the worker's number, from 0 to CALLS_AT_ONCE − 1. */
  readonly workers: Map<number, Promise<void>>;
  readonly grants: RouteState;
  readonly cancels: RouteState;
}

/**
 * Sends unsent grants and due cancels, among them those of expired grants, a few calls at a time per provider, for one
 * operator after the other. Each grant or cancel is claimed, and the claim is committed, before the call, so that any
 * number of instances share the work. If an instance is killed, the others continue with the unclaimed grants when they
 * next poll. Once the leases of the killed instance have expired, the others repeat its cancels, which providers handle
 * idempotently, and fail its grants with an unknown outcome. Contract, section 6.
 */
@Injectable()
export class QueueRunner {
  private readonly logger = new Logger('QueueRunner');
  private readonly workersByProvider = new Map<string, ProviderWorkers>();
  private readonly loop: BackgroundLoop;

  constructor(
    private readonly randomness: Randomness,
    private readonly tracing: Tracing,
    private readonly games: GrantableGames,
    private readonly callbacks: GrantCallbacks,
    private readonly queue: QueueStore,
    private readonly grants: GrantStore,
    configuration: Configuration,
    background: Background,
  ) {
    this.loop = background.add({
      name: 'send unsent grants, due cancels and expiries',
      intervalMs: POLL_MS,
      firstAfterMs: FIRST_POLL_MS,
      stopMs: callbackStopMs(configuration),
      work: () => this.findWork(),
      inFlight: () => [...this.workersByProvider.values()].flatMap(({ workers }) => [...workers.values()]),
      onError: (detail) =>
        this.logger.error({
          msg: 'the check for unsent grants, due cancels and expiries failed',
          detail,
        }),
    });
  }

  /** Requests a check for unsent grants and due cancels. */
  wake(): void {
    void this.loop.run();
  }

  private async findWork(): Promise<void> {
    await this.callbacks.expire();
    while ((await this.queue.beginExpiries(EXPIRED_AT_ONCE)) === EXPIRED_AT_ONCE);
    while ((await this.queue.failExpired(EXPIRED, EXPIRED_AT_ONCE)) === EXPIRED_AT_ONCE);
    await this.queue.endMootCancels();
    for (const providerId of await this.queue.providersWithWork()) this.addWorkers(providerId);
  }

  private addWorkers(providerId: string): void {
    const pool = this.workersByProvider.get(providerId) ?? {
      workers: new Map<number, Promise<void>>(),
      grants: { unanswered: 0, operatorId: '' },
      cancels: { unanswered: 0, operatorId: '' },
    };
    this.workersByProvider.set(providerId, pool);
    for (let number = 0; number < CALLS_AT_ONCE && !this.loop.stopping; number += 1) {
      if (pool.workers.has(number)) continue;
      const worker = this.work(providerId, pool, number >= CALLS_FOR_GRANTS)
        .catch((error: unknown) => {
          const detail = failureText(error);
          this.logger.error({
            msg: 'sending of grants and cancels interrupted: the next poll continues with the unclaimed ones',
            providerId,
            detail,
          });
        })
        .finally(() => {
          pool.workers.delete(number);
          // The operators served last stay known: grants that have to wait do not hold up those of other operators.
          if (pool.workers.size === 0) pool.grants.unanswered = pool.cancels.unanswered = 0;
        });
      pool.workers.set(number, worker);
    }
  }

  private async work(providerId: string, pool: ProviderWorkers, sendsCancels: boolean): Promise<void> {
    while (!this.loop.stopping) {
      // Cancels come first: until then the spins can be played, while an unsent grant can wait.
      const cancel = sendsCancels && (await this.queue.claimDueCancel(providerId, pool.cancels.operatorId));
      if (cancel) {
        pool.cancels.operatorId = cancel.operatorId;
        if (!(await this.sendCancel(cancel, pool.cancels))) return;
        continue;
      }
      const grant = await this.queue.claimUnsent(providerId, pool.grants.operatorId);
      if (!grant) return;
      pool.grants.operatorId = grant.operatorId;
      if (!(await this.send(grant, pool.grants))) return;
    }
  }

  /** @returns false if the call could not be made: the next poll tries again */
  private async sendCancel(grant: ClaimedCancel, route: RouteState): Promise<boolean> {
    const requestId = grant.cancelRequestId ?? this.randomness.uuid();
    const { outcome, failure } = await this.tracing.runWork('cancel', requestId, fieldsOf(grant), () =>
      this.callbacks.sendCancel(grant),
    );
    if (isNotMade(outcome)) return false;
    if (failure && grant.expiry === 'BEGUN')
      this.logger.error({
        msg: 'the spins of an expired grant could not be cancelled: cancel the grant later',
        ...fieldsOf(grant),
        error: failure.error,
      });
    const { batchId, providerId, operatorId } = grant;
    if (!this.countsAsDown(outcome, route) || batchId === null) return true;
    const cancels = await this.queue.failCancels(batchId, PROVIDER_DOWN);
    if (cancels > 0)
      this.logger.error({
        msg: 'the provider does not answer, so the remaining cancels of a batch were not sent: cancel the batch again later',
        providerId,
        operatorId,
        batchId,
        cancels,
      });
    return true;
  }

  /**
   * Counts the unanswered calls in a row on a route.
   * @returns whether the provider counts as down on this route
   */
  private countsAsDown({ kind }: CallbackOutcome, route: RouteState): boolean {
    route.unanswered = kind === 'answered' ? 0 : route.unanswered + 1;
    return route.unanswered >= UNANSWERED_LIMIT;
  }

  /** @returns false if the grant must wait, because this instance cannot send it now: the next poll tries again */
  private async send(grant: ClaimedGrant, route: RouteState): Promise<boolean> {
    const verdict = await this.games.verdictOn(grant);
    if (verdict === 'unknown') {
      await this.grants.unclaim(grant, UNKNOWN_WHETHER_OPEN);
      return false;
    }
    if (verdict !== 'send') {
      await this.grants.recordNotSent(grant, verdict.refusal);
      await this.giveUp(grant, verdict.refusal);
      return true;
    }
    // The request that queued this grant may have ended long ago. A grant that an earlier version recorded has no
    // request id.
    const requestId = grant.requestId ?? this.randomness.uuid();
    const outcome = await this.tracing.runWork('grant', requestId, fieldsOf(grant), () =>
      this.callbacks.sendQueued(grant),
    );
    if (isNotMade(outcome)) return false;
    if (this.countsAsDown(outcome, route)) await this.giveUp(grant, PROVIDER_DOWN);
    return true;
  }

  /** Fails the unsent grants of the batch, which would fail for the same reason. */
  private async giveUp({ batchId, providerId, operatorId }: Grant, error: string): Promise<void> {
    if (batchId === null) return;
    const players = await this.queue.failUnsent(batchId, error);
    // A resend leaves expired grants out.
    const advice = error === EXPIRED ? 'only a new batch can grant these spins' : 'resend the batch later';
    if (players > 0)
      this.logger.error({
        msg: `the remaining grants of a batch were not sent and are FAILED: ${advice}`,
        providerId,
        operatorId,
        batchId,
        players,
        error,
      });
  }
}

/** The fields of log lines about a grant. */
function fieldsOf({ requestRef, operatorId, providerId, batchId }: Grant) {
  return { actor: 'batch', requestRef, operatorId, providerId, ...(batchId !== null && { batchId }) };
}
