/**
 * `npm run bench:growth`: how the cost of a BET, of a page of a list and of a batch changes as the service's data grow,
 * and how its memory changes with the number of requests. Slices of each service with much data alternate with slices
 * of one with little.
 *
 * 10^7 transactions need some 25 GB of disk in the folder for temporary files (TMPDIR) and about twenty minutes; 10^6
 * requests need another ten minutes. With the defaults it writes bench/results/growth.json.
 */
import { createHash } from 'node:crypto';
import { readOptions } from './command-line.js';
import { type Contestant, register, start, type Surroundings } from './contestants.js';
import { batchSeconds, listings } from './desk.load.js';
import { seed, type Tenants } from './growth.sql.js';
import type { Amounts, Compared, Grown, Growth } from './growth.results.js';
import { growthTable, describeAmounts } from './growth.table.js';
import { Load, type PreparedRequest, type Run, Stock } from './load.js';
import { measurementOf, measureSlice, ratioOf, type Slice } from './measure.js';
import { memoryAfter } from './memory.js';
import { type Postgres, tidy } from './postgres.js';
import { bet, type Caller } from './requests.js';
import { type BenchEnvironment, machineOf, withSurroundings, writeResult } from './surroundings.js';
import { memoryOf } from './usage.js';
import { GAME_ID, OPERATOR_ID, PROVIDER_ID, SESSIONS } from './world.js';

const USAGE = `usage: npm run bench:growth -- [options]

  --transactions 1e3,1e5,1e7  sizes to measure, each with the sessions
  --sessions 1e6
  --tenants 1e3
  --requests 1e6              requests after which memory is measured
  --shared-buffers 128MB      of PostgreSQL`;

const CONNECTIONS = 32;
const ROUNDS = 4;
const WARM_UP_SECONDS = 4;
/** BETs between a checkpoint and the main measurement, as in one to two minutes at full load. */
const BETS_AFTER_CHECKPOINT = 100_000;
/** Sessions in which players bet at the same time. */
const ACTIVE_SESSIONS = 10_000;
const LEAD_IN_SECONDS = 0.3;
const SLICE_SECONDS = 1.5;
/** Upper bound of the BETs that a service can settle per second, for which requests are prepared. */
const BETS_PER_SECOND = 5_000;
const BATCHES = 3;

/** A filled service. Session n belongs to the caller with the index n % callers.length. */
interface Filled {
  readonly contestant: Contestant;
  readonly callers: readonly Caller[];
  readonly amounts: Amounts;
  readonly seedSeconds: number;
}

const LITTLE: Amounts = { transactions: 1_000, sessions: SESSIONS, tenants: 2 };

class Growing {
  readonly running = new Set<Contestant>();
  private series = 0;

  constructor(
    private readonly surroundings: Surroundings,
    private readonly postgres: Postgres,
  ) {}

  /** Registers tenants with a service, stops it, fills its database and starts it again. */
  async createFilled(label: string, amounts: Amounts): Promise<Filled> {
    const { operatorUrl } = this.surroundings;
    const empty = await this.startService(label);
    const tenants = [{ providerId: PROVIDER_ID, operatorId: OPERATOR_ID, gameId: GAME_ID }];
    const callers = [{ providerId: PROVIDER_ID, gameId: GAME_ID, secret: empty.providerSecret }];
    for (let n = 1; n < amounts.tenants / 2; n += 1) {
      const ids = { providerId: `provider-${n}`, operatorId: `operator-${n}`, gameId: `game-${n}` };
      const { providerSecret } = await register(empty.port, operatorUrl, ids);
      tenants.push(ids);
      callers.push({ providerId: ids.providerId, gameId: ids.gameId, secret: providerSecret });
    }
    await this.stop(empty);
    const begun = performance.now();
    const spread: Tenants = {
      providers: tenants.map(({ providerId }) => providerId),
      operators: tenants.map(({ operatorId }) => operatorId),
      games: tenants.map(({ gameId }) => gameId),
    };
    await seed(empty.databaseUrl, spread, amounts.sessions, amounts.transactions);
    const seedSeconds = (performance.now() - begun) / 1000;
    return { contestant: await this.startService(label, empty), callers, amounts, seedSeconds };
  }

  /** Compares a service with much data to one with little data, in neighbouring slices. */
  async compare(much: Filled, little: Filled): Promise<Grown> {
    // A warm-up: statements are planned and code is compiled before the measurement.
    for (const each of [much, little]) await this.slice(each, WARM_UP_SECONDS);
    for (const { contestant } of [much, little]) await tidy(contestant.database);
    const afterCheckpoint = await this.compareBets(much, little, ACTIVE_SESSIONS);
    await this.book(much, BETS_AFTER_CHECKPOINT);
    const bets = await this.compareBets(much, little, ACTIVE_SESSIONS);
    const { sessions } = much.amounts;
    const firstBets = sessions > ACTIVE_SESSIONS ? await this.compareBets(much, little, sessions) : undefined;
    const { port, pid, database } = much.contestant;
    const { rows } = await database.query<{ bytes: string }>(
      `SELECT pg_database_size(current_database())::text AS bytes`,
    );
    // As autovacuum would have done: plans depend on statistics.
    await tidy(database);
    const batches: number[] = [];
    for (let n = 0; n < BATCHES; n += 1) batches.push(await batchSeconds(port, OPERATOR_ID, GAME_ID));
    return {
      amounts: much.amounts,
      seedSeconds: much.seedSeconds,
      databaseMiB: Number(rows[0]?.bytes) / 2 ** 20,
      afterCheckpoint,
      bets,
      firstBets,
      memoryMiB: (await memoryOf(pid)) / 2 ** 20,
      listings: await listings(much.contestant),
      batchSeconds: batches,
    };
  }

  /**
   * Starts a service, which `stop` ends.
   * @param before a stopped contestant whose database is reused
   */
  async startService(label: string, before?: Contestant): Promise<Contestant> {
    const contestant = await start('service', { ...this.surroundings, label }, before);
    this.running.add(contestant);
    return contestant;
  }

  async stop(contestant: Contestant): Promise<void> {
    this.running.delete(contestant);
    await contestant.stop();
  }

  private async compareBets(much: Filled, little: Filled, activeSessions: number): Promise<Compared> {
    const [muchSlices, littleSlices]: [Slice[], Slice[]] = [[], []];
    const measure = async () => muchSlices.push(await this.slice(much, SLICE_SECONDS, activeSessions));
    for (let round = 0; round < ROUNDS; round += 1) {
      await measure();
      littleSlices.push(await this.slice(little, SLICE_SECONDS), await this.slice(little, SLICE_SECONDS));
      await measure();
    }
    return {
      much: measurementOf(muchSlices),
      little: measurementOf(littleSlices),
      ratio: ratioOf(muchSlices, littleSlices),
    };
  }

  /** Measures a slice of new BETs. */
  private slice(filled: Filled, seconds: number, activeSessions = ACTIVE_SESSIONS): Promise<Slice> {
    const count = Math.ceil(BETS_PER_SECOND * (LEAD_IN_SECONDS + seconds));
    const stock = new Stock(this.newBets(filled, count, activeSessions));
    return measureSlice(filled.contestant, this.postgres.pid, CONNECTIONS, (load, measured): Promise<Run> =>
      load.closed(stock, measured ? seconds : LEAD_IN_SECONDS),
    );
  }

  private async book(filled: Filled, count: number): Promise<void> {
    const load = await Load.open(filled.contestant.port, CONNECTIONS);
    await load.closed(new Stock(this.newBets(filled, count, ACTIVE_SESSIONS)), Infinity);
    load.close();
  }

  /** New BETs whose ids and sessions are spread over the indexes. */
  private newBets({ callers, amounts }: Filled, count: number, activeSessions: number): PreparedRequest[] {
    this.series += 1;
    const step = Math.max(1, Math.floor(amounts.sessions / activeSessions));
    return Array.from({ length: count }, (_, n) => {
      const id = createHash('md5').update(`bet ${this.series} ${n}`).digest('hex');
      const session = (parseInt(id.slice(0, 8), 16) * step) % amounts.sessions;
      return bet(callers[session % callers.length]!, session, id);
    });
  }
}

function growth(wanted: readonly Amounts[], requests: number, sharedBuffers: string): Promise<Growth> {
  const measure = async ({ postgres, surroundings }: BenchEnvironment): Promise<Growth> => {
    const growing = new Growing(surroundings, postgres);
    try {
      const little = await growing.createFilled('little', LITTLE);
      const grown: Grown[] = [];
      for (const amounts of wanted) {
        console.log(`${describeAmounts(amounts)} …`);
        const much = await growing.createFilled('much', amounts);
        grown.push(await growing.compare(much, little));
        await growing.stop(much.contestant);
      }
      console.log(`memory after ${requests.toLocaleString('en')} requests …`);
      await growing.stop(little.contestant);
      const fresh = await growing.startService('little', little.contestant);
      const memory = await memoryAfter(fresh, little.callers[0]!, requests);
      return {
        at: new Date().toISOString(),
        machine: machineOf(postgres),
        settings: postgres.settings,
        little: LITTLE,
        grown,
        memory,
      };
    } finally {
      for (const contestant of growing.running) await contestant.stop();
    }
  };
  return withSurroundings('growth', measure, { shared_buffers: sharedBuffers });
}

const DEFAULTS = {
  transactions: '1e3,1e5,1e7',
  sessions: '1e6',
  tenants: '1e3',
  requests: '1e6',
  'shared-buffers': '128MB',
};

const options = readOptions(USAGE, {
  transactions: { type: 'string', default: DEFAULTS.transactions },
  sessions: { type: 'string', default: DEFAULTS.sessions },
  tenants: { type: 'string', default: DEFAULTS.tenants },
  requests: { type: 'string', default: DEFAULTS.requests },
  'shared-buffers': { type: 'string', default: DEFAULTS['shared-buffers'] },
});
const sessions = Number(options.sessions);
const results = await growth(
  [
    { ...LITTLE, tenants: Number(options.tenants) },
    ...options.transactions.split(',').map((size) => ({ ...LITTLE, transactions: Number(size), sessions })),
  ],
  Number(options.requests),
  options['shared-buffers'],
);
console.log(`\n${growthTable(results)}`);
if (Object.entries(DEFAULTS).every(([name, value]) => options[name as keyof typeof DEFAULTS] === value)) {
  await writeResult('growth.json', `${JSON.stringify(results, null, 2)}\n`);
  console.log('\nWritten to bench/results.');
}
