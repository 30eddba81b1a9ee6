import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { readOptions } from '../bench/command-line.js';
import { Faults } from './faults.js';
import { recordMoves } from './judge/moves.js';
import { judge, type Verdict } from './judge/judge.js';
import { judgeLatestOverviews } from './judge/latest-overviews.js';
import { Client } from './load/client.js';
import { EventLoopLag } from './load/event-loop-lag.js';
import { FreeSpins } from './load/free-spins.js';
import { definite, History, type Intent, intentKey } from './load/history.js';
import { Providers } from './load/provider.js';
import { Readers } from './load/readers.js';
import { launchPlayers, Rounds } from './load/rounds.js';
import { planOf, scriptedPlan } from './plan.js';
import { postgresBinaries } from './processes/postgres.js';
import { redisBinary } from './processes/redis.js';
import { QuietPoints } from './quiet-points.js';
import { Seeded } from './seeded.js';
import { type Binaries, WALLET_TIMEOUT_MS, World } from './world.js';
import { writeReport } from './report/report.js';
import type { Measured, Run } from './run.js';

const USAGE = `usage: npm run chaos -- [--seed N] [--minutes N] [--instances N] [--side-by-side N] [--fault-rate FACTOR] [--embedded | --scripted]`;

/** Longest time from the end of the faults until every transaction and grant is decided, in seconds. */
const LIVENESS_SECONDS = 90;
/** Maximum number of undecided transactions that a finding names. */
const LISTED = 10;
/** Maximum length of a scripted load. It ends with its last fault, earlier unless the machine is very busy. */
const SCRIPT_MINUTES = 5;
/**
 * Time of a scripted run after which no provider gives up any more, in milliseconds. Otherwise the end of the run would
 * have to wait for the resolver.
 */
const SCRIPT_PATIENT_MS = 10_000;

async function main(): Promise<number> {
  const chosen = choose();
  if (!chosen) {
    console.error(USAGE);
    return 2;
  }
  const { run, binaries } = chosen;
  await rm(run.folder, { recursive: true, force: true });
  await mkdir(run.folder, { recursive: true });
  console.log(`seed ${run.seed}, ${run.minutes.toFixed(1)} minutes, ${JSON.stringify(run.parts)}`);
  console.log(`a fault of each kind every … seconds: ${JSON.stringify(run.plan.everySeconds)}`);
  console.log(
    `wallets misbehave in ${run.plan.misbehave * 100} % of the calls, clocks ahead by ${run.plan.clockSeconds.join(', ')} s`,
  );
  const world = await World.start(run.plan, binaries, run.folder);
  const end = () => void world.stop().finally(() => process.exit(130));
  process.once('SIGINT', end).once('SIGTERM', end);
  try {
    return await play(run, world);
  } finally {
    await world.stop();
  }
}

function choose(): { run: Run; binaries: Binaries | undefined } | undefined {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const options = {
    seed: text,
    minutes: text,
    instances: text,
    'side-by-side': text,
    'fault-rate': text,
    embedded: flag,
    scripted: flag,
  };
  const values = readOptions(USAGE, options);
  const seed = Number(values.seed ?? Date.now() % 1_000_000_000);
  const scripted = values.scripted ?? false;
  const minutes = scripted ? SCRIPT_MINUTES : Number(values.minutes ?? 10);
  const postgres = postgresBinaries();
  const redis = redisBinary();
  const instances = Number(values.instances ?? (values.embedded ? 1 : 2));
  const sideBySide = Number(values['side-by-side'] ?? 32);
  const faultRate = Number(values['fault-rate'] ?? 1);
  const shared = !(values.embedded ?? instances === 1);
  const whole = [seed, instances, sideBySide].every(Number.isInteger);
  if (!whole || !(minutes > 0) || !(faultRate > 0) || instances < 1) return undefined;
  if (shared && !(postgres && redis)) {
    console.error(
      'PostgreSQL (with pg_basebackup) and redis-server are needed: apt-get install postgresql redis-server',
    );
    return undefined;
  }
  const parts = { instances, database: shared, redis: shared };
  const plan = scripted ? scriptedPlan(seed, parts) : planOf(seed, minutes, parts, faultRate);
  const folder = join(import.meta.dirname, '../..', String(seed));
  const binaries = shared ? { postgres: postgres!, redis: redis! } : undefined;
  return { run: { seed, minutes, parts, plan, faultRate, sideBySide, folder }, binaries };
}

async function play(run: Run, world: World): Promise<number> {
  const began = new Date();
  const history = new History(join(run.folder, 'history.jsonl'));
  const lag = new EventLoopLag();
  lag.start();
  const client = new Client(world, lag);
  const providers = new Providers(world, client, history);
  const readers = new Readers(world, run.plan.readers);
  const faults = new Faults(world, run.plan, history, readers);
  const freeSpins = new FreeSpins(world);
  await recordMoves(await world.databaseUrl());
  const sessions = await launchPlayers(client);
  const { seed, misbehave, decline } = run.plan;
  const rates = { seed, misbehave, decline, walletTimeoutMs: WALLET_TIMEOUT_MS };
  await world.counterparts.command({ do: 'behave', rates });

  if (run.plan.scripted) setTimeout(() => (providers.patient = true), SCRIPT_PATIENT_MS);
  const rounds = new Rounds(providers, sessions, seed);
  readers.start();
  const load = Promise.all([rounds.play(run.sideBySide), freeSpins.grant()]);
  const striking = faults.run();
  let struck = false;
  void striking.then(() => (struck = true));
  const quietPoints = new QuietPoints(run.plan.quietAtMs, { world, faults, rounds, readers });
  await untilOver(run, history, quietPoints, () => run.plan.scripted && struck);
  faults.stop();
  rounds.stop();
  freeSpins.stop();
  providers.closing = true;
  await striking;
  await world.counterparts.command({ do: 'behave', rates: { ...rates, misbehave: 0, decline: 0 } });
  await faults.heal();
  history.note('healed');
  const healed = performance.now();
  const violations = await settle(world, history, providers, freeSpins, load);
  violations.push(...quietPoints.violations);
  const settledSeconds = (performance.now() - healed) / 1000;
  violations.push(...(await judgeLatestOverviews(world, readers)));
  readers.stop();
  client.close();
  lag.stop();
  await world.counterparts.command({ do: 'write-out', folder: run.folder });
  await history.close();

  const verdict = await judge({ world, history, providers, readers, faults, folder: run.folder });
  const measured: Measured = {
    began,
    seconds: (Date.now() - began.getTime()) / 1000,
    intents: history.intents.size,
    answers: [...history.intents.values()].reduce((sum, { answers }) => sum + answers.length, 0),
    settledSeconds,
    lag: lag.total,
    quietPoints: quietPoints.compared,
    versions: [
      process.version,
      ...[world.postgres?.version, world.redis?.version].filter((known) => known !== undefined),
    ],
  };
  const all: Verdict = { ...verdict, violations: [...violations, ...verdict.violations] };
  const findings = await writeReport(run, measured, all, history);
  console.log(
    `${measured.intents} intents, ${history.faults.length} faults: ${JSON.stringify(verdict.coverage)}`,
  );
  for (const finding of findings.slice(0, 20)) console.error(`FINDING ${finding}`);
  console.log(`${findings.length} findings; see ${join(run.folder, 'report.md')}`);
  return findings.length === 0 ? 0 : 1;
}

async function untilOver(
  { minutes }: Run,
  history: History,
  quietPoints: QuietPoints,
  early: () => boolean,
): Promise<void> {
  const began = performance.now();
  const elapsedMs = () => performance.now() - began - quietPoints.pausedMs;
  const leftMs = () => minutes * 60_000 - elapsedMs();
  for (let second = 0; leftMs() > 0 && !early(); second += 1) {
    if (second % 10 === 0) {
      const left = Math.round(leftMs() / 1000);
      console.log(`${left} s left, ${history.intents.size} intents, ${history.faults.length} faults`);
    }
    await sleep(1000);
    await quietPoints.pauseIfDue(elapsedMs());
  }
}

/**
 * Waits until the load has ended and every transaction and grant is decided. Then lets the providers learn the outcomes
 * that they do not know yet.
 * @returns descriptions of what was not finished in time
 */
async function settle(
  world: World,
  history: History,
  providers: Providers,
  freeSpins: FreeSpins,
  load: Promise<unknown>,
): Promise<string[]> {
  const late = performance.now() + LIVENESS_SECONDS * 1000;
  const random = new Seeded(1);
  let loadEnded = false;
  void load.then(() => (loadEnded = true));
  // The resolver decides the transactions on which a provider gave up. It parks a BET if the operator declines the
  // platform's ROLLBACK of it; its provider then sends the BET again.
  const sentAgain = new Set<Intent>();
  const sendAgain = ({ providerId, transactionId }: Undecided) => {
    const intent = history.intents.get(intentKey(providerId, transactionId));
    if (!intent || sentAgain.has(intent)) return;
    sentAgain.add(intent);
    void providers.pursue(intent, random);
  };
  let undecided = await undecidedOf(world);
  let pending = await freeSpins.pending();
  while (performance.now() < late && !(loadEnded && undecided.length === 0 && pending === 0)) {
    await sleep(500);
    undecided = await undecidedOf(world);
    pending = await freeSpins.pending();
    for (const one of undecided) if (one.parked) sendAgain(one);
  }
  const violations: string[] = [];
  if (!loadEnded)
    violations.push(`some providers had no definite answer ${LIVENESS_SECONDS} s after the faults`);
  if (undecided.length > 0) {
    const ids = undecided.slice(0, LISTED).map(({ transactionId }) => transactionId);
    violations.push(
      `${undecided.length} transactions were undecided ${LIVENESS_SECONDS} s after the faults: ${ids.join(', ')}`,
    );
  }
  if (pending > 0) violations.push(`${pending} grants were PENDING ${LIVENESS_SECONDS} s after the faults`);
  // Finally, providers learn the outcome of the transactions that they gave up on.
  const open = [...history.intents.values()].filter((intent) => !definite(intent));
  const settled = Promise.all(open.map((intent) => providers.pursue(intent, random)));
  if (!(await Promise.race([settled.then(() => true), sleep(30_000).then(() => false)]))) {
    violations.push('not every provider that gave up could learn the outcome');
  }
  providers.stopped = true;
  await providers.waitForBackground();
  return violations;
}

interface Undecided {
  readonly providerId: string;
  readonly transactionId: string;
  readonly parked: boolean;
}

async function undecidedOf(world: World): Promise<Undecided[]> {
  const client = new pg.Client({ connectionString: await world.databaseUrl() });
  await client.connect();
  const { rows } = await client.query<Undecided>(
    `SELECT provider_id AS "providerId", transaction_id AS "transactionId", parked_at IS NOT NULL AS parked
       FROM transactions WHERE state IN ('PENDING', 'TIMED_OUT')`,
  );
  await client.end();
  return rows;
}

// Remaining clients and timers must not keep the process alive after the run.
process.exit(await main());
