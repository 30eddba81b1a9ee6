import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { gameOf, OPERATORS, PROVIDERS, type World } from '../world.js';

/** Pause between two batches, in milliseconds. */
const EVERY_MS = 4000;
const PLAYERS = 8;

/** Grants free spins by batches during the rounds. Each grant must be sent to its provider at most once. */
export class FreeSpins {
  private stopped = false;

  constructor(private readonly world: World) {}

  async grant(): Promise<void> {
    for (let number = 0; !this.stopped; number += 1) {
      const batch = {
        batchRef: `batch-${number}`,
        operatorId: OPERATORS[number % OPERATORS.length],
        gameId: gameOf(PROVIDERS[number % PROVIDERS.length]!),
        spins: 5,
        betAmountMinor: 10,
        currency: 'EUR',
        playerRefs: Array.from({ length: PLAYERS }, (_, player) => `player-${number}-${player}`),
      };
      await this.submit(batch);
      await sleep(EVERY_MS);
    }
  }

  stop(): void {
    this.stopped = true;
  }

  /** The number of grants without an outcome. */
  async pending(): Promise<number> {
    const client = new pg.Client({ connectionString: await this.world.databaseUrl() });
    await client.connect();
    const { rows } = await client.query<{ count: string }>(
      `SELECT count(*) FROM free_spin_grants WHERE state = 'PENDING'`,
    );
    await client.end();
    return Number(rows[0]?.count);
  }

  /** Repeats the same batch until it is accepted; its batchRef makes it idempotent. */
  private async submit(batch: object): Promise<void> {
    while (!this.stopped) {
      const answer = await this.world
        .admin('POST', '/v1/admin/free-spins/batches', batch)
        .catch(() => undefined);
      if (answer && answer.status < 300) return;
      await sleep(500);
    }
  }
}
