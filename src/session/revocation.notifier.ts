import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Configuration } from '../config/configuration.js';
import { currentRequestId } from '../observability/trace.js';
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
import { type ClaimedRevocation, RevocationStore, type UnsentRevocation } from './revocation.store.js';
import type { RevocationNotification } from './session.response.js';

/** Maximum number of queued notifications that an instance sends to one provider at a time. */
const CALLS_PER_PROVIDER = 8;
/** Maximum number of queued notifications of one provider. Polling finds those that did not fit into the queue. */
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
   * The request that caused each session's notification, by session id, the next one first; undefined if polling found
   * it. Polling finds a session again while it waits here.
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
   * Notifies the providers of many sessions, a few at a time per provider. Resolves when the queued notifications of
   * these providers are sent, at the latest after the time-out of one callback; the rest is sent in the background.
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

  /** Queues the notifications that any instance left unsent. */
  private async findUnsent(): Promise<void> {
    this.enqueue(await this.revocations.unsent(QUEUE_LIMIT), undefined);
    // Workers end when they cannot reach the database, and leave their queue as it is.
    for (const providerId of this.queues.keys()) this.addWorkers(providerId);
  }

  private enqueue(revocations: readonly UnsentRevocation[], requestId: string | undefined): void {
    for (const { providerId, sessionId } of revocations) {
      const { requestIds } = this.queueOf(providerId);
      if (requestIds.size < QUEUE_LIMIT && !requestIds.has(sessionId)) requestIds.set(sessionId, requestId);
      this.addWorkers(providerId);
    }
  }

  private queueOf(providerId: string): ProviderQueue {
    const queue = this.queues.get(providerId) ?? { requestIds: new Map(), workers: new Set() };
    this.queues.set(providerId, queue);
    return queue;
  }

  /** Starts workers for the queued notifications; each takes its first one at once. */
  private addWorkers(providerId: string): void {
    const { requestIds, workers } = this.queueOf(providerId);
    while (requestIds.size > 0 && workers.size < CALLS_PER_PROVIDER && !this.loop.stopping) {
      const worker = this.work(requestIds)
        .catch((error: unknown) => {
          const detail = failureText(error);
          this.logger.error({ msg: 'notifications interrupted', providerId, detail });
        })
        .finally(() => workers.delete(worker));
      workers.add(worker);
    }
  }

  private async work(requestIds: ProviderQueue['requestIds']): Promise<void> {
    for (const [sessionId, requestId = this.randomness.uuid()] of requestIds) {
      if (this.loop.stopping) return;
      requestIds.delete(sessionId);
      const claimed = await this.revocations.claim(sessionId);
      if (!claimed) continue;
      // The request that started this worker may concern other sessions.
      const fields = { actor: 'revocation', sessionId, providerId: claimed.providerId };
      const { wasMade } = await this.tracing.runWork('notify', requestId, fields, () =>
        this.deliver(claimed),
      );
      // The next poll continues, as it does if this instance cannot reach the database.
      if (!wasMade) return;
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
