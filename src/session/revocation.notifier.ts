import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Configuration } from '../config/configuration.js';
import { newTrace, runTraced } from '../observability/trace.js';
import { type CallbackOutcome, ProviderCallbacks } from '../provider-callback/provider-callbacks.service.js';
import { Randomness } from '../runtime/randomness.js';
import { type ClaimedRevocation, type Notification, RevocationStore } from './revocation.store.js';

/** Notifications of players' sessions that one instance has in flight; a single session's does not queue. */
const IN_FLIGHT = 8;
/** What may wait for its turn; what goes beyond is taken up by the look for what was left. */
const QUEUE_LIMIT = 1_000;
/** How often is looked for what nobody has sent, in milliseconds. */
const LOOK_MS = 5_000;
/** When is looked first, in milliseconds: what came down with us may not be up yet, and a refusal is final. */
const FIRST_LOOK_MS = 1_000;
/** How long a stop waits for notifications in flight, in milliseconds: the drain goes on after it. */
const STOP_MS = 5_000;

const PENDING: Notification = { delivered: false, error: 'pending' };
const NOBODY_KNOWS = 'the outcome is not known: the platform stopped while the provider was notified';

/**
 * Tells providers of sessions that ended: each once, claimed by a statement that is committed before the call.
 * What an instance left unsent another one sends; what it sent without learning the outcome nobody sends again.
 */
@Injectable()
export class RevocationNotifier implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Revocation');
  private readonly queue: string[] = [];
  private readonly workers = new Set<Promise<void>>();
  private timer: NodeJS.Timeout | undefined;
  private stopping = false;

  constructor(
    private readonly configuration: Configuration,
    private readonly randomness: Randomness,
    private readonly callbacks: ProviderCallbacks,
    private readonly revocations: RevocationStore,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setTimeout(() => {
      this.timer = setInterval(() => this.man(), LOOK_MS).unref();
      this.man();
    }, FIRST_LOOK_MS).unref();
  }

  /** Begins nothing new, and gives what is in flight a moment; what still waits is in the database. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    clearTimeout(this.timer);
    await Promise.race([Promise.all(this.workers), sleep(STOP_MS, undefined, { ref: false })]);
  }

  /** Notifies of one session now, if nobody has, and answers what became of it. */
  async notify(sessionId: string): Promise<Notification> {
    const claimed = await this.revocations.claim(sessionId);
    return claimed ? this.send(claimed) : this.notificationOf(sessionId);
  }

  /** Notifies of many, a few at a time; waits as long as one callback may take, and goes on after that. */
  async notifyAll(sessionIds: readonly string[]): Promise<void> {
    this.queue.push(...sessionIds.slice(0, Math.max(0, QUEUE_LIMIT - this.queue.length)));
    if (sessionIds.length > 0) this.man(sessionIds.length);
    const patience = sleep(this.configuration.callbackTimeoutMs, undefined, { ref: false });
    await Promise.race([Promise.all(this.workers), patience]);
  }

  /** What became of a notification, without sending any. */
  async notificationOf(sessionId: string): Promise<Notification> {
    const stored = await this.revocations.notification(sessionId);
    // Sessions that ended before providers were notified have no row.
    if (!stored) return { delivered: false, error: 'the provider was not notified' };
    const { sent, delivered, status, error, leaseAlive } = stored;
    if (delivered === null) return leaseAlive || !sent ? PENDING : { delivered: false, error: NOBODY_KNOWS };
    return { delivered, ...(status !== null && { status }), ...(error !== null && { error }) };
  }

  /** Sees to it that somebody works the queue off, and what was left. @param wanted at most so many more */
  private man(wanted = 1): void {
    for (let more = wanted; more > 0 && this.workers.size < IN_FLIGHT && !this.stopping; more -= 1) {
      const worker = this.work()
        .catch((error: unknown) => {
          this.logger.error({ msg: 'notifications are interrupted', detail: (error as Error).message });
        })
        .finally(() => this.workers.delete(worker));
      this.workers.add(worker);
    }
  }

  private async work(): Promise<void> {
    while (!this.stopping) {
      const sessionId = this.queue.shift();
      const claimed = await (sessionId === undefined
        ? this.revocations.claimLeft()
        : this.revocations.claim(sessionId));
      // An id of its own: the request that set this worker going may have nothing to do with it.
      const trace = newTrace(this.randomness.uuid());
      if (claimed) await runTraced(trace, () => this.send(claimed));
      else if (sessionId === undefined) return;
    }
  }

  private async send(claimed: ClaimedRevocation): Promise<Notification> {
    const { sessionId, revocationRef, providerId, playerRef, gameId, reason, revokedAt } = claimed;
    const body = { revocationRef, sessionId, playerRef, gameId, reason, revokedAt: revokedAt.toISOString() };
    const route = '/v1/game/session/revoke';
    const outcome = await this.callbacks.call({ providerId, route, reference: sessionId, body });
    const notification = notificationIn(outcome);
    await this.revocations.complete(sessionId, notification);
    return notification;
  }
}

/** 200 is delivered, whatever its body says. Contract, section 6. */
function notificationIn(outcome: CallbackOutcome): Notification {
  if (outcome.kind === 'unanswered') return { delivered: false, error: outcome.error };
  const { status } = outcome;
  return status === 200
    ? { delivered: true, status }
    : { delivered: false, status, error: `the provider answered ${status}` };
}
