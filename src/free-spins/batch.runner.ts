import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { newTrace, runTraced } from '../observability/trace.js';
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
export class BatchRunner implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('BatchRunner');
  private readonly crews = new Map<string, Crew>();
  private readonly loop = new BackgroundLoop({
    work: () => this.findWork(),
    onError: ({ message }) => this.logger.error({ msg: 'batches cannot be read', detail: message }),
    intervalMs: POLL_MS,
    firstAfterMs: FIRST_POLL_MS,
  });

  constructor(
    private readonly randomness: Randomness,
    private readonly tenancy: TenancyService,
    private readonly freeSpins: FreeSpinsService,
    private readonly grants: GrantStore,
  ) {}

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  /** Takes no more players, and waits for the calls in flight. */
  async beforeApplicationShutdown(): Promise<void> {
    const stopped = this.loop.stop(STOP_MS);
    const inFlight = [...this.crews.values()].flatMap(({ workers }) => [...workers]);
    await Promise.race([Promise.all([stopped, ...inFlight]), sleep(STOP_MS, undefined, { ref: false })]);
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
      if (!grant) return;
      await this.send(grant, crew);
    }
  }

  private async send(grant: Grant, crew: Crew): Promise<void> {
    const game = this.tenancy.game(grant.gameId);
    if (!game || !this.freeSpins.isOpen(game) || game.providerId !== grant.providerId) {
      const failure = { error: GAME_CLOSED, outcomeUnknown: false };
      await this.grants.failed(grant.requestRef, grant.attempt, failure, false);
      return this.giveUp(grant, GAME_CLOSED);
    }
    // An id of its own: the request that began the batch, or another one, is over or has nothing to do with it.
    const trace = newTrace(this.randomness.uuid());
    const outcome = await runTraced(trace, () => this.freeSpins.attempt(grant, grant.attempt));
    if (outcome.kind === 'answered') {
      crew.silences = 0;
      return;
    }
    crew.silences += 1;
    if (crew.silences >= SILENCES) await this.giveUp(grant, PROVIDER_DOWN);
  }

  /** What is left of the batch would only wait its turn to fail. */
  private async giveUp({ batchId, providerId }: Grant, error: string): Promise<void> {
    if (batchId === null) return;
    const players = await this.grants.failUnsent(batchId, error);
    if (players > 0)
      this.logger.error({ msg: 'the rest of a batch is given up', providerId, batchId, players, error });
  }
}
