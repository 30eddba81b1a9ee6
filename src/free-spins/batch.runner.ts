import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Tracing } from '../observability/tracing/tracing.js';
import type { CallbackOutcome } from '../provider-callback/provider-callbacks.service.js';
import { BackgroundLoop } from '../runtime/background-loop.js';
import { Randomness } from '../runtime/randomness.js';
import { TenancyService } from '../tenancy/tenancy.service.js';
import { FreeSpinsService } from './free-spins.service.js';
import type { Grant } from './grant.entity.js';
import { GrantStore } from './grant.store.js';

/** Calls of batches that one instance has in flight to one provider. */
const CALLS_PER_PROVIDER = 4;
/** So many in a row without an answer, and a provider counts as down: two rounds of calls. */
const SILENCES = 2 * CALLS_PER_PROVIDER;
/** Polling interval for grants that another instance left unsent or without an outcome, in milliseconds. */
const POLL_MS = 5_000;
/** Delay before the first poll, in milliseconds: a provider that restarts with us may not be up, and a refusal is final. */
const FIRST_POLL_MS = 1_000;
/** How long a stop waits for calls in flight, in milliseconds; the drain continues after it. */
const STOP_MS = 5_000;

const GAME_CLOSED = 'not sent: the game is not configured any more';
const PROVIDER_DOWN = `not sent: the provider gave no answer to ${SILENCES} calls in a row`;

/** What one provider is being sent to. */
interface Crew {
  readonly workers: Set<Promise<void>>;
  /** Calls in a row, over all workers, that got no answer. */
  silences: number;
}

/**
 * Sends batches, a few calls at a time for each provider. Each player is taken by a statement that is committed
 * before the call: any number of instances share the work, and after a `kill -9` another goes on with those
 * that nobody took. Contract, section 6.
 */
@Injectable()
export class BatchRunner implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger('BatchRunner');
  private readonly crews = new Map<string, Crew>();
  private readonly loop = new BackgroundLoop({
    work: () => this.findWork(),
    onError: ({ message }) => this.logger.error({ msg: 'batches cannot be read', detail: message }),
    intervalMs: POLL_MS,
    firstAfterMs: FIRST_POLL_MS,
  });
  private stopped: Promise<unknown> | undefined;

  constructor(
    private readonly randomness: Randomness,
    private readonly tenancy: TenancyService,
    private readonly tracing: Tracing,
    private readonly freeSpins: FreeSpinsService,
    private readonly grants: GrantStore,
  ) {}

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  /** Takes no more players as soon as the shutdown begins; the calls in flight are awaited later. */
  onModuleDestroy(): void {
    const stopped = this.loop.stop(STOP_MS);
    const inFlight = [...this.crews.values()].flatMap(({ workers }) => [...workers]);
    this.stopped = Promise.race([
      Promise.all([stopped, ...inFlight]),
      sleep(STOP_MS, undefined, { ref: false }),
    ]);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stopped;
  }

  /** Requests a look for unsent grants. */
  wake(): void {
    void this.loop.run();
  }

  private async findWork(): Promise<void> {
    await this.freeSpins.expire();
    for (const providerId of await this.grants.unsentProviders()) this.addWorkers(providerId);
  }

  private addWorkers(providerId: string): void {
    const crew = this.crews.get(providerId) ?? { workers: new Set<Promise<void>>(), silences: 0 };
    this.crews.set(providerId, crew);
    while (crew.workers.size < CALLS_PER_PROVIDER && !this.loop.stopping) {
      const worker = this.work(providerId, crew)
        .catch((error: unknown) => {
          const detail = (error as Error).message;
          this.logger.error({ msg: 'a batch is interrupted, and taken up again', providerId, detail });
        })
        .finally(() => {
          crew.workers.delete(worker);
          if (crew.workers.size === 0) this.crews.delete(providerId);
        });
      crew.workers.add(worker);
    }
  }

  private async work(providerId: string, crew: Crew): Promise<void> {
    while (!this.loop.stopping) {
      const grant = await this.grants.takeUnsent(providerId);
      if (grant) {
        await this.send(grant, crew);
        continue;
      }
      const cancelled = await this.grants.takeCancel(providerId);
      if (!cancelled) return;
      await this.sendCancel(cancelled, crew);
    }
  }

  private async sendCancel(grant: Grant & { cancelAttempt: number }, crew: Crew): Promise<void> {
    const requestId = grant.cancelRequestId ?? this.randomness.uuid();
    const { outcome } = await this.tracing.runWork('cancel', requestId, fieldsOf(grant), () =>
      this.freeSpins.sendCancel(grant, grant.cancelAttempt),
    );
    if (!this.isSilent(outcome, crew) || grant.batchId === null) return;
    const { batchId, providerId } = grant;
    const cancels = await this.grants.failCancels(batchId, PROVIDER_DOWN);
    if (cancels > 0)
      this.logger.error({
        msg: 'the rest of the cancels of a batch is given up',
        providerId,
        batchId,
        cancels,
      });
  }

  /** Counts the silences. @returns whether the provider counts as down */
  private isSilent({ kind }: CallbackOutcome, crew: Crew): boolean {
    crew.silences = kind === 'answered' ? 0 : crew.silences + 1;
    return crew.silences >= SILENCES;
  }

  private async send(grant: Grant, crew: Crew): Promise<void> {
    const game = this.tenancy.game(grant.gameId);
    if (!game || !this.freeSpins.isOpen(game) || game.providerId !== grant.providerId) {
      const failure = { error: GAME_CLOSED, outcomeUnknown: false };
      await this.grants.failed(grant.requestRef, grant.attempt, failure, false);
      return this.giveUp(grant, GAME_CLOSED);
    }
    // The id of the request that caused it, which may be long over; grants of earlier versions have none.
    const requestId = grant.requestId ?? this.randomness.uuid();
    const outcome = await this.tracing.runWork('grant', requestId, fieldsOf(grant), () =>
      this.freeSpins.attempt(grant, grant.attempt),
    );
    if (this.isSilent(outcome, crew)) await this.giveUp(grant, PROVIDER_DOWN);
  }

  /** What is left of the batch would only wait its turn to fail. */
  private async giveUp({ batchId, providerId }: Grant, error: string): Promise<void> {
    if (batchId === null) return;
    const players = await this.grants.failUnsent(batchId, error);
    if (players > 0)
      this.logger.error({ msg: 'the rest of a batch is given up', providerId, batchId, players, error });
  }
}

/** The ids of the log lines about a grant. */
function fieldsOf({ requestRef, operatorId, providerId, batchId }: Grant) {
  return { actor: 'batch', requestRef, operatorId, providerId, ...(batchId !== null && { batchId }) };
}
