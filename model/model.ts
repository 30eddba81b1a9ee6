import { readOptions } from '../bench/command-line.js';
import { macrosOf, macrosOfPlant, NEVER_DECIDED, type Plant, PLANTS, type Scope, SCOPES } from './scopes.js';
import { explore, type Explored, missingTools } from './spin.js';
import type { Trace } from './trace.js';

const USAGE = `usage: npm run model -- [--list | --plant NAME | --plants]

Explores the protocol of a transaction completely, in the scopes of model/scopes.ts.

  --list        print the names of the planted bugs
  --plant NAME  plant a bug: print the trace that shows it, and end with status 1
  --plants      verify that each planted bug is found`;

/** Searches that run at the same time. */
const SIDE_BY_SIDE = 2;

const ended = new AbortController();
process.once('SIGINT', () => ended.abort()).once('SIGTERM', () => ended.abort());

async function main(): Promise<number> {
  const {
    list,
    plant: name,
    plants,
  } = readOptions(USAGE, {
    list: { type: 'boolean' },
    plant: { type: 'string' },
    plants: { type: 'boolean' },
  });
  if (list) {
    for (const plant of PLANTS) console.log(plant.name);
    return 0;
  }
  const plant = PLANTS.find((known) => known.name === name);
  if (name !== undefined && !plant) {
    console.error(USAGE);
    return 2;
  }
  const missing = await missingTools();
  if (missing.length > 0) {
    console.error(`${missing.join(' and ')} not found. On Debian: apt-get install spin gcc`);
    return 1;
  }
  if (plant) return explorePlant(plant);
  return plants ? explorePlants() : exploreScopes();
}

async function exploreScopes(): Promise<number> {
  let violations = 0;
  await sideBySide(SCOPES, async (scope) => {
    const explored = await explore(macrosOf(scope), scope.liveness ? 'liveness' : 'invariants', ended.signal);
    console.log(`${scope.name}: ${explored.trace ? 'VIOLATED' : '0 violations'}, ${figuresOf(explored)}`);
    console.log(`  ${boundsOf(scope)}`);
    if (!explored.trace) return;
    violations += 1;
    print(await shortened(explored.trace, scope));
  });
  console.log(`${SCOPES.length} scopes, ${violations} with violations`);
  return violations === 0 ? 0 : 1;
}

/** A shortest trace to a violation, unless it is a cycle or takes too much memory: then the trace that was found first. */
async function shortened(trace: Trace, scope: Scope): Promise<Trace> {
  if (scope.liveness) return trace;
  const shortest = await explore(macrosOf(scope), 'shortest-trace', ended.signal).catch(() => undefined);
  return shortest?.trace ?? trace;
}

async function traceOf(plant: Plant): Promise<Trace | undefined> {
  const search = plant.violates === NEVER_DECIDED ? 'liveness' : 'shortest-trace';
  return (await explore(macrosOfPlant(plant), search, ended.signal)).trace;
}

/** The sentence of what a trace violates. */
const violationIn = ({ violated = NEVER_DECIDED }: Trace) => violated;

async function explorePlant(plant: Plant): Promise<number> {
  const trace = await traceOf(plant);
  if (!trace) {
    console.log(`${plant.name}: not found`);
    return 0;
  }
  console.log(`${plant.name} breaks this rule: ${plant.breaks}.`);
  print(trace);
  return 1;
}

async function explorePlants(): Promise<number> {
  let missed = 0;
  await sideBySide(PLANTS, async (plant) => {
    const trace = await traceOf(plant);
    const violated = trace && violationIn(trace);
    if (trace && violated === plant.violates) {
      console.log(`${plant.name}: found after ${trace.steps.length} steps: ${violated}`);
    } else {
      missed += 1;
      console.log(`${plant.name}: NOT FOUND: ${violated ?? 'nothing is violated'}`);
    }
  });
  console.log(`${PLANTS.length - missed} of ${PLANTS.length} planted bugs found`);
  return missed === 0 ? 0 : 1;
}

function print(trace: Trace): void {
  for (const [index, step] of trace.steps.entries()) console.log(`${String(index + 1).padStart(4)}. ${step}`);
  console.log(`Violation: ${violationIn(trace)}`);
}

function figuresOf({ states, transitions, depth, memoryMiB, seconds }: Explored): string {
  const count = (value: number) => value.toLocaleString('en');
  return (
    `${count(states)} states, ${count(transitions)} transitions, depth ${count(depth)}, ` +
    `${Math.round(memoryMiB)} MiB, ${seconds.toFixed(1)} s`
  );
}

function boundsOf({ transactions, instances, liveness }: Scope): string {
  const checked = liveness ? 'every transaction ends decided or parked' : 'the invariants';
  return `${instances} instances; ${transactions.join(', ')}; any number of attempts; checks ${checked}`;
}

/** Runs `work` for each item, for at most `SIDE_BY_SIDE` at a time. If one fails, the others are ended. */
async function sideBySide<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const remaining = [...items];
  const worker = async () => {
    for (let item = remaining.shift(); item !== undefined; item = remaining.shift()) await work(item);
  };
  const workers = Array.from({ length: SIDE_BY_SIDE }, () =>
    worker().catch((error: unknown) => {
      ended.abort();
      throw error;
    }),
  );
  await Promise.allSettled(workers);
  await Promise.all(workers);
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
