import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { BuiltService } from '../process/built-service.js';
import { createTestDatabase } from '../world/database.js';
import { until } from '../world/patience.js';
import { SqlConsole } from '../world/sql-console.js';
import { Load } from './load.js';
import { previousRelease } from './previous-release.js';

const main = await previousRelease();
if (main === undefined) console.log('SKIPPED: this clone has no history of the previous release');

describe.skipIf(main === undefined)('a rolling upgrade from the previous release', () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let environment: Record<string, string>;
  let previous: BuiltService;
  let current: BuiltService | undefined;
  beforeAll(async () => {
    database = await createTestDatabase();
    const redisUrl = inject('redisUrl');
    environment = {
      DATABASE_URL: database.url,
      SHUTDOWN_DELAY_MS: '1000',
      ...(redisUrl !== null && { REDIS_URL: redisUrl }),
    };
    previous = await BuiltService.create(environment, main);
  }, 120_000);
  afterAll(async () => {
    await current?.remove();
    await (previous as BuiltService | undefined)?.remove();
    await database.drop();
  });

  test('migrates under load, serves with both releases, and loses nothing when the previous one stops', async () => {
    const services = [previous];
    const load = new Load(services);
    await load.more(40);
    const flagged = await flaggedWins(previous);
    current = await previous.another(environment);
    expect(current.logged('"migrationsRun":[]')).toEqual([]);
    flagged.push(...(await flaggedWins(previous)));
    await load.more(40);
    services.push(current);
    await load.more(120);
    const stopped = previous.end('SIGTERM');
    await until(async () => load.retryable.has('ECONNREFUSED'));
    await stopped;
    await load.more(40);
    await load.stop();
    expect([previous.exitCode, current.exitCode]).toEqual([0, null]);
    console.log(`${load.approved} transactions, ${JSON.stringify(Object.fromEntries(load.retryable))}`);
    await load.check(current);
    expect(await marked(database.url)).toEqual(expect.arrayContaining(flagged));
  }, 120_000);
});

/** Books two WINs that need a review: of an unknown batch, and in a round whose only BET is rolled back. */
async function flaggedWins(service: BuiltService): Promise<string[]> {
  const book = async (session: object, fields: Record<string, unknown>) => {
    const body = { ...session, transactionId: randomUUID(), ...fields };
    expect((await service.submit(body)).json).toMatchObject({ status: 'APPROVED' });
    return body.transactionId;
  };
  const unknownBatch = await book(await service.bet(), { kind: 'WIN', freeSpinsRef: 'no-such-batch' });
  const session = await service.bet();
  const withoutBet = await book(session, { kind: 'WIN' });
  await book(session, { kind: 'ROLLBACK', originalTransactionId: session.transactionId });
  return [unknownBatch, withoutBet];
}

/** The WINs that the list of flagged winnings examines. */
async function marked(databaseUrl: string): Promise<string[]> {
  const sql = SqlConsole.open(databaseUrl);
  const rows = await sql.run<{ id: string }>('SELECT transaction_id AS id FROM flaggable_wins');
  await sql.close();
  return rows.map(({ id }) => id);
}
