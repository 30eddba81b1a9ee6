import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Configuration } from '../config/configuration.js';
import { Tracing } from '../observability/tracing.js';
import { type CallbackOutcome, ProviderCallbacks } from '../provider-callback/provider-callbacks.service.js';
import { Background } from '../runtime/background.js';
import type { BackgroundLoop } from '../runtime/background-loop.js';
import { Randomness } from '../runtime/randomness.js';
import { type ClaimedRevocation, RevocationStore } from './revocation.store.js';
import type { RevocationNotification } from './session.response.js';

/** Maximum number of queued notifications that an instance sends at a time. */
const IN_FLIGHT = 8;
/** Maximum number of queued sessions. Polling finds the notifications that did not fit into the queue. */
const QUEUE_LIMIT = 1_000;
const POLL_MS = 5_000;
/**
 * Delay before the first poll, in milliseconds. A provider that restarts together with the platform may not accept
 * connections yet, and a notification that fails is not sent again automatically.
 */
const FIRST_POLL_MS = 1_000;
/** How long a stop waits for notifications in flight, in milliseconds. */
const STOP_MS = 5_000;

const PENDING: RevocationNotification = { delivered: false, error: 'pending' };
const UNKNOWN_OUTCOME =
  'the outcome is not known: the platform may have stopped while the provider was being notified';

/**
 * Notifies the provider of each revoked session once: the claim of a notification is committed before the call. Any
 * instance may send a notification that another one left unsent. A notification that failed, or whose outcome is
 * unknown, is sent again only if a person requests it.
 */
@Injectable()
export class RevocationNotifier {
  private readonly logger = new Logger('Revocation');
  private readonly queue: string[] = [];
  private readonly workers = new Set<Promise<void>>();
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
      stopMs: STOP_MS,
      work: () => Promise.resolve(this.addWorkers(1)),
      inFlight: () => [...this.workers],
      onError: ({ message }) =>
        this.logger.error({ msg: 'notifications cannot be started', detail: message }),
    });
  }

  /** Notifies the provider of one session now, unless the notification was claimed before. */
  async notify(sessionId: string): Promise<RevocationNotification> {
    const claimed = await this.revocations.claim(sessionId);
    return claimed ? this.send(claimed) : this.notificationOf(sessionId);
  }

  /**
   * Notifies the providers of many sessions, a few at a time. Resolves when the queued notifications are sent, at the
   * latest after the time-out of one callback; the rest is sent in the background.
   */
  async notifyAll(sessionIds: readonly string[]): Promise<void> {
    this.queue.push(...sessionIds.slice(0, Math.max(0, QUEUE_LIMIT - this.queue.length)));
    if (sessionIds.length > 0) this.addWorkers(sessionIds.length);
    const patience = sleep(this.configuration.callbackTimeoutMs, undefined, { ref: false });
    await Promise.race([Promise.all(this.workers), patience]);
  }

  /** Reads the outcome of a notification, without sending it. */
  async notificationOf(sessionId: string): Promise<RevocationNotification> {
    const stored = await this.revocations.notification(sessionId);
    // A session that an earlier version revoked without notifying the provider has no row.
    if (!stored) return { delivered: false, error: 'the provider was not notified' };
    const { sent, delivered, status, error, leaseAlive } = stored;
    if (delivered === null)
      return leaseAlive || !sent ? PENDING : { delivered: false, error: UNKNOWN_OUTCOME };
    return { delivered, ...(status !== null && { status }), ...(error !== null && { error }) };
  }

  /** Starts up to `wanted` workers. They send the queued notifications, then those that any instance left unsent. */
  private addWorkers(wanted: number): void {
    for (let more = wanted; more > 0 && this.workers.size < IN_FLIGHT && !this.loop.stopping; more -= 1) {
      const worker = this.work()
        .catch((error: unknown) => {
          this.logger.error({ msg: 'notifications interrupted', detail: (error as Error).message });
        })
        .finally(() => this.workers.delete(worker));
      this.workers.add(worker);
    }
  }

  private async work(): Promise<void> {
    while (!this.loop.stopping) {
      const sessionId = this.queue.shift();
      const claimed = await (sessionId === undefined
        ? this.revocations.claimUnsent()
        : this.revocations.claim(sessionId));
      // Each notification has its own request id, because the request that started this worker may concern other
      // sessions.
      if (claimed) {
        const { sessionId: id, providerId } = claimed;
        const fields = { actor: 'revocation', sessionId: id, providerId };
        await this.tracing.runWork('notify', this.randomness.uuid(), fields, () => this.send(claimed));
      } else if (sessionId === undefined) return;
    }
  }

  /** Sends a claimed notification, and stores and returns its outcome. */
  async send(claimed: ClaimedRevocation): Promise<RevocationNotification> {
    const { sessionId, revocationRef, providerId, playerRef, gameId, reason, revokedAt } = claimed;
    const body = { revocationRef, sessionId, playerRef, gameId, reason, revokedAt: revokedAt.toISOString() };
    const route = '/v1/game/session/revoke';
    const outcome = await this.callbacks.call({ providerId, route, reference: sessionId, body });
    const notification = notificationIn(outcome);
    await this.revocations.complete(claimed, notification);
    return notification;
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
