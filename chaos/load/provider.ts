import { setTimeout as sleep } from 'node:timers/promises';
import type { TransactionRequest } from '../../src/wallet/rules/facts.js';
import type { Seeded } from '../seeded.js';
import type { World } from '../world.js';
import type { Client, LostConnection, Reply, Signed } from './client.js';
import type { History, Intent, PlayerSession } from './history.js';

const PATH = '/v1/wallet/transaction';
/** Percentages of requests that are sent twice at once, repeated later, or replayed byte for byte. */
const TWICE = 5;
const REPEATED_LATER = 3;
const REPLAYED = 1;
/** Attempts of a provider that gives up. */
const IMPATIENT_TRIES = 2;

/** Counts of the providers' deviations and of the service's errors. */
export interface ProviderCounts {
  /** Signed requests that were sent again with the same nonce. */
  replayedNonces: number;
  noncesUsedTwice: number;
}

/** A request without an answer from an instance that was found ready shortly before, and was stopping. */
export interface Unanswered extends LostConnection {
  readonly transactionId: string;
  readonly instance: number;
  /** Unix milliseconds. `lostAt` is when the client noticed that there is no answer. */
  readonly signalledAt: number;
  readonly sent: number;
  readonly lostAt: number;
  readonly code: string;
  readonly lagMs: number;
}

/** The providers. They retry as X-Next-Action says; some give up, and some send twice. */
export class Providers {
  readonly counts: ProviderCounts = { replayedNonces: 0, noncesUsedTwice: 0 };
  readonly unanswered: Unanswered[] = [];
  readonly violations: string[] = [];
  /** Whether the load is ending: requests are no longer duplicated, and no provider gives up. */
  closing = false;
  /** Whether no provider gives up on a new transaction, because the resolver takes it up only after a minute. */
  patient = false;
  /** Whether no further retry is begun. */
  stopped = false;
  private readonly background = new Set<Promise<unknown>>();

  constructor(
    private readonly world: World,
    private readonly client: Client,
    private readonly history: History,
  ) {}

  /** @returns the status of the definite answer; `unknown` if there is none */
  async submit(
    session: PlayerSession,
    request: TransactionRequest,
    random: Seeded,
  ): Promise<'APPROVED' | 'DECLINED' | 'unknown'> {
    const intent = this.history.intent(session, request);
    const tries = random.chance(0.04) && !this.patient ? IMPATIENT_TRIES : Infinity;
    return this.pursue(intent, random, tries);
  }

  /**
   * Repeats a request until its answer is definite.
   * @param tries number of attempts after which the provider gives up, unless the load is ending
   */
  async pursue(
    intent: Intent,
    random: Seeded,
    tries = Infinity,
  ): Promise<'APPROVED' | 'DECLINED' | 'unknown'> {
    for (let tried = 1; !this.stopped; tried += 1) {
      const twice = random.chance(TWICE / 100) && !this.closing;
      const [reply] = await Promise.all([
        this.send(intent, random),
        ...(twice ? [this.send(intent, random)] : []),
      ]);
      if (reply.status === 200) {
        if (random.chance(REPEATED_LATER / 100) && !this.closing)
          this.later(random, () => this.send(intent, random));
        return (JSON.parse(reply.text) as { status: 'APPROVED' | 'DECLINED' }).status;
      }
      const retryable = reply.status === 0 || reply.nextAction === 'retry-same-request';
      if (!retryable && reply.nextAction !== 'wait-then-retry') {
        this.violations.push(`${intent.request.transactionId}: ${reply.status} ${reply.code ?? reply.text}`);
        return 'unknown';
      }
      if (tried >= tries && !this.closing) return 'unknown';
      await sleep(random.between(20, Math.min(2000, 60 * 2 ** tried)));
    }
    return 'unknown';
  }

  /** Waits for delayed repetitions and replays. */
  async waitForBackground(): Promise<void> {
    await Promise.all(this.background);
  }

  private send(intent: Intent, random: Seeded): Promise<Reply> {
    return this.client.atNext((instance) => this.sendTo(instance, intent, random));
  }

  private async sendTo(instance: number, intent: Intent, random: Seeded): Promise<Reply> {
    const { sessionToken, providerId } = intent.session;
    const signed = this.client.sign(providerId, PATH, { ...intent.request, sessionToken });
    const ready = this.client.saysReady(instance);
    const sent = Date.now();
    const reply = await this.client.send(signed, instance);
    const { status, code, nextAction, replayed, lagMs, text } = reply;
    this.history.answer(intent, {
      sent,
      answered: Date.now(),
      instance,
      status,
      ...(code !== undefined && { code }),
      ...(nextAction !== undefined && { nextAction }),
      ...(replayed && { replayed }),
      ...(lagMs > 0 && { lagMs }),
      ...(status === 200 && { body: text }),
    });
    if (ready && reply.lost) this.reportLost(intent.request.transactionId, sent, reply, reply.lost);
    const shared = this.world.redis !== undefined;
    if (shared && random.chance(REPLAYED / 100) && !this.closing) {
      this.later(random, () => this.replay(signed, reply));
    }
    return reply;
  }

  /** Takes down a request without an answer from a stopping instance, unless its link explains it. */
  private reportLost(transactionId: string, sent: number, reply: Reply, lost: LostConnection): void {
    const { instance, code = '', lagMs } = reply;
    const { stop } = this.world.instances[instance]!;
    const lostAt = Date.now();
    if (!stop || lostAt < stop.signalledAt || sent > (stop.endedAt ?? Infinity)) return;
    if (this.world.link('client', instance).wasFaulty(sent)) return;
    const { signalledAt } = stop;
    const unanswered = { ...lost, transactionId, instance, signalledAt, sent, lostAt, code, lagMs };
    this.unanswered.push(unanswered);
    this.history.note(`no answer from an instance that was stopping: ${JSON.stringify(unanswered)}`);
  }

  /** Sends the same bytes again: at most one of the two may be accepted. */
  private async replay(signed: Signed, first: Reply): Promise<void> {
    const second = await this.client.atNext((instance) => this.client.send(signed, instance));
    this.counts.replayedNonces += 1;
    if (wasAccepted(first) && wasAccepted(second)) {
      this.counts.noncesUsedTwice += 1;
      this.violations.push(`a nonce was used twice: ${first.status} and ${second.status}`);
    }
  }

  private later(random: Seeded, work: () => Promise<unknown>): void {
    const done: Promise<unknown> = sleep(random.between(0, 3000))
      .then(work)
      .finally(() => this.background.delete(done));
    this.background.add(done);
  }
}

/** Whether the signature and the nonce are known to have been accepted; without an answer they are not. */
function wasAccepted({ status, code }: Reply): boolean {
  return status !== 0 && status !== 401 && code !== 'REPLAY_PROTECTION_UNAVAILABLE';
}
