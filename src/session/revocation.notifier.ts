import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Configuration } from '../config/configuration.js';
import { currentRequestId, runUntraced } from '../observability/trace.js';
import { Tracing } from '../observability/tracing.js';
import { callbackStopMs } from '../provider-callback/callback-lease.js';
import {
  type CallbackOutcome,
  isNotMade,
  ProviderCallbacks,
} from '../provider-callback/provider-callbacks.service.js';
import { Background } from '../runtime/background.js';
import type { BackgroundLoop } from '../runtime/background-loop.js';
import { failureText } from '../runtime/failure-text.js';
import { Randomness } from '../runtime/randomness.js';
import { TenancyService } from '../tenancy/tenancy.service.js';
import { type ClaimedRevocation, RevocationStore, type UnsentRevocation } from './revocation.store.js';
import type { RevocationNotification } from './session.response.js';

/** Maximum number of queued notifications that an instance sends to one provider at a time. */
const CALLS_PER_PROVIDER = 8;
/** Maximum number of queued notifications of one provider. Those that do not fit are left unsent, for polling. */
const QUEUE_LIMIT = 1_000;
const POLL_MS = 5_000;
/**
 * Delay before the first poll, in milliseconds. A provider that restarts together with the platform may not accept
 * connections yet, and a notification that fails is not sent again automatically.
 */
const FIRST_POLL_MS = 1_000;

const PENDING: RevocationNotification = { delivered: false, error: 'pending' };
export const NOT_NOTIFIED = 'the provider was not notified';
const UNKNOWN_OUTCOME =
  'the outcome is not known: the platform may have stopped while the provider was being notified';

/** The notifications of one provider. No other provider's notifications wait for them. */
interface ProviderQueue {
  /**
   * The queue: the request that revoked each session, by session id, the next one first. Once the lease of a session that
   * waits here has ended, any worker may claim it.
   */
  readonly requestIds: Map<string, string | undefined>;
  readonly workers: Set<Promise<void>>;
}

/**
 * Notifies the provider of each revoked session once: the claim of a notification is committed before the call. Any
 * instance may send a notification that another one left unsent. A notification that failed, or whose outcome is
 * unknown, is sent again only if a person requests it.
 */
@Injectable()
export class RevocationNotifier {
  private readonly logger = new Logger('Revocation');
  /** By provider id. It needs no bound, because providers are few and never deleted. */
  private readonly queues = new Map<string, ProviderQueue>();
  private readonly loop: BackgroundLoop;

  constructor(
    private readonly configuration: Configuration,
    private readonly randomness: Randomness,
    private readonly callbacks: ProviderCallbacks,
    private readonly tracing: Tracing,
    private readonly revocations: RevocationStore,
    private readonly tenancy: TenancyService,
    background: Background,
  ) {
    // A stop awaits the notifications in flight; those that are queued remain in the database.
    this.loop = background.add({
      name: 'send unsent revocations',
      intervalMs: POLL_MS,
      firstAfterMs: FIRST_POLL_MS,
      stopMs: callbackStopMs(configuration),
      work: () => this.findUnsent(),
      inFlight: () => [...this.queues.values()].flatMap(({ workers }) => [...workers]),
      onError: (detail) => this.logger.error({ msg: 'the check for unsent notifications failed', detail }),
    });
  }

  /** Notifies the provider of one session now, unless the notification was claimed before. */
  async notify(sessionId: string): Promise<RevocationNotification> {
    const claimed = await this.revocations.claim(sessionId);
    return claimed ? this.send(claimed) : this.notificationOf(sessionId);
  }

  /**
   * Notifies the providers of many sessions, a few at a time per provider. Resolves when no notification of these
   * providers waits, at the latest after the time-out of one callback; the rest is sent in the background.
   */
  async notifyAll(sessions: readonly UnsentRevocation[]): Promise<void> {
    this.enqueue(sessions, currentRequestId());
    const providerIds = new Set(sessions.map(({ providerId }) => providerId));
    const workers = [...providerIds].flatMap((id) => [...this.queueOf(id).workers]);
    const patience = sleep(this.configuration.callbackTimeoutMs, undefined, { ref: false });
    await Promise.race([Promise.all(workers), patience]);
  }

  /** Reads the outcome of a notification, without sending it. */
  async notificationOf(sessionId: string): Promise<RevocationNotification> {
    const stored = await this.revocations.notification(sessionId);
    // A session that an earlier version revoked without notifying the provider has no row.
    if (!stored) return { delivered: false, error: NOT_NOTIFIED };
    const { sent, delivered, status, error, leaseAlive } = stored;
    if (delivered === null)
      return leaseAlive || !sent ? PENDING : { delivered: false, error: UNKNOWN_OUTCOME };
    return { delivered, ...(status !== null && { status }), ...(error !== null && { error }) };
  }

  /** Starts workers for the providers with notifications that any instance left unsent. */
  private async findUnsent(): Promise<void> {
    const providers = this.tenancy.tenants().filter(({ kind }) => kind === 'PROVIDER');
    const waiting = await this.revocations.providersWithUnsent(providers.map(({ id }) => id));
    // Workers end when they cannot reach the database, and leave their queue as it is.
    const queued = [...this.queues].filter(([, { requestIds }]) => requestIds.size > 0).map(([id]) => id);
    for (const providerId of new Set([...waiting, ...queued])) {
      for (let worker = 0; worker < CALLS_PER_PROVIDER; worker += 1) this.addWorker(providerId);
    }
  }

  private enqueue(revocations: readonly UnsentRevocation[], requestId: string | undefined): void {
    for (const { providerId, sessionId } of revocations) {
      const { requestIds } = this.queueOf(providerId);
      if (requestIds.size < QUEUE_LIMIT) requestIds.set(sessionId, requestId);
      this.addWorker(providerId);
    }
  }

  private queueOf(providerId: string): ProviderQueue {
    const queue = this.queues.get(providerId) ?? { requestIds: new Map(), workers: new Set() };
    this.queues.set(providerId, queue);
    return queue;
  }

  /** Starts a worker, if there is room for one. */
  private addWorker(providerId: string): void {
    const { requestIds, workers } = this.queueOf(providerId);
    if (workers.size >= CALLS_PER_PROVIDER || this.loop.stopping) return;
    // The request that starts this worker may concern other sessions.
    const worker = runUntraced(() =>
      this.work(providerId, requestIds)
        .catch((error: unknown) => {
          const detail = failureText(error);
          this.logger.error({ msg: 'notifications interrupted', providerId, detail });
        })
        .finally(() => workers.delete(worker)),
    );
    workers.add(worker);
  }

  /** Sends the queued notifications, and then those that any instance left unsent. */
  private async work(providerId: string, requestIds: ProviderQueue['requestIds']): Promise<void> {
    while (!this.loop.stopping) {
      const [queued] = requestIds;
      if (queued) requestIds.delete(queued[0]);
      const claimed = await (queued
        ? this.revocations.claim(queued[0])
        : this.revocations.claimUnsent(providerId));
      if (!claimed && !queued) return;
      if (!claimed) continue;
      const requestId = queued?.[1] ?? this.randomness.uuid();
      const fields = { actor: 'revocation', sessionId: claimed.sessionId, providerId };
      const { wasMade } = await this.tracing.runWork('notify', requestId, fields, () =>
        this.deliver(claimed),
      );
      if (wasMade) continue;
      if (queued) requestIds.set(...queued);
      // The next poll continues, as it does if this instance cannot reach the database.
      return;
    }
  }

  /**
   * Sends a claimed notification, and stores and returns its outcome. If the call could not be made, the notification is
   * sent in the background later.
   */
  async send(claimed: ClaimedRevocation): Promise<RevocationNotification> {
    return (await this.deliver(claimed)).notification;
  }

  /** @returns `wasMade`: false if this instance could not make the call */
  private async deliver(
    claimed: ClaimedRevocation,
  ): Promise<{ readonly notification: RevocationNotification; readonly wasMade: boolean }> {
    const { sessionId, revocationRef, providerId, playerRef, gameId, reason, revokedAt } = claimed;
    const body = { revocationRef, sessionId, playerRef, gameId, reason, revokedAt: revokedAt.toISOString() };
    const route = '/v1/game/session/revoke';
    const call = { providerId, route, reference: sessionId, body, claim: claimed } as const;
    const outcome = await this.callbacks.call(call);
    if (isNotMade(outcome)) {
      await this.revocations.unclaim(claimed);
      return { notification: PENDING, wasMade: false };
    }
    const notification = notificationIn(outcome);
    await this.revocations.complete(claimed, notification);
    return { notification, wasMade: true };
  }
}

/** A 200 means delivered, whatever its body. Contract, section 6. */
function notificationIn(outcome: CallbackOutcome): RevocationNotification {
  if (outcome.kind === 'unanswered') return { delivered: false, error: outcome.error };
  const { status } = outcome;
  return status === 200
    ? { delivered: true, status }
    : { delivered: false, status, error: `the provider answered ${status}` };
}
