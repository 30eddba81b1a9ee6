import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readOptions } from '../bench/command-line.js';
import { Lane, ROOT, type Run } from './lane.js';
import { mutated, type SqlMutant } from './mutant.js';
import { SQL_MUTANTS } from './sql-mutants.js';

const USAGE = `usage: npm run mutants:sql -- [--list | --mutant NAME …]

Plants mistakes in SQL statements, one at a time, and verifies that the tests notice each of them.

  --list         print the names of the mutants and what would go wrong
  --mutant NAME  only this mutant; may be repeated`;

/** Mutants that run at the same time. */
const SIDE_BY_SIDE = 2;

async function main(): Promise<number> {
  const { list, mutant: names } = readOptions(USAGE, {
    list: { type: 'boolean' },
    mutant: { type: 'string', multiple: true },
  });
  if (list) {
    for (const { name, harm } of SQL_MUTANTS) console.log(`${name}: ${harm}`);
    return 0;
  }
  const mutants = SQL_MUTANTS.filter(({ name }) => !names || names.includes(name));
  if (names && mutants.length < new Set(names).size) {
    console.error(USAGE);
    return 2;
  }
  for (const mutant of mutants) mutated(mutant, await readFile(join(ROOT, mutant.file), 'utf8'));
  const lanes = await Promise.all(Array.from({ length: SIDE_BY_SIDE }, () => Lane.open()));
  for (const signal of ['SIGINT', 'SIGTERM']) {
    // Vite would end the process before PostgreSQL has stopped.
    process.removeAllListeners(signal);
    process.once(signal, () => lanes.forEach((lane) => lane.cancel()));
  }
  try {
    return (await passWithoutMutant(lanes, mutants)) && (await killAll(lanes, mutants)) ? 0 : 1;
  } finally {
    for (const lane of lanes) await lane.close();
  }
}

/** A failure says something about a mutant only if the same test passes without it. */
async function passWithoutMutant(lanes: readonly Lane[], mutants: readonly SqlMutant[]): Promise<boolean> {
  const startedMs = performance.now();
  const files = [...new Set(mutants.flatMap(({ tests }) => tests))];
  const shares = lanes.map((_, lane) => files.filter((__, place) => place % lanes.length === lane));
  const runs = await Promise.all(
    shares.flatMap((share, index) => (share.length > 0 ? [lanes[index]!.run(share)] : [])),
  );
  if (lanes.some(({ cancelled }) => cancelled)) return false;
  const failing = runs.filter((run) => !passes(run));
  for (const { failed, errors } of failing)
    console.log(`fails without a mutant: ${failed ?? errors.join('; ')}`);
  if (failing.length > 0) return false;
  console.log(`${files.length} test files pass without a mutant, after ${minutesSince(startedMs)} min`);
  return true;
}

async function killAll(lanes: readonly Lane[], mutants: readonly SqlMutant[]): Promise<boolean> {
  const startedMs = performance.now();
  let killed = 0;
  await share(lanes, mutants, async (lane, mutant) => {
    const run = await lane.run(mutant.tests, mutant);
    if (lane.cancelled) return;
    if (run.failed !== undefined) killed += 1;
    console.log(`${mutant.name}: ${outcomeOf(run)}`);
  });
  console.log(`${killed} of ${mutants.length} mutants killed, after ${minutesSince(startedMs)} min`);
  return killed === mutants.length;
}

const passes = ({ passed, failed, errors }: Run) => passed > 0 && failed === undefined && errors.length === 0;

function outcomeOf(run: Run): string {
  const { failed, errors, seconds } = run;
  if (failed !== undefined) return `killed by ${failed} after ${seconds} s`;
  if (passes(run)) return `SURVIVED after ${seconds} s`;
  return `NOT RUN: ${errors.join('; ') || 'no test passed or failed'}`;
}

/** Each lane works on one item after another until none is left. */
async function share<T>(
  lanes: readonly Lane[],
  items: readonly T[],
  work: (lane: Lane, item: T) => Promise<void>,
): Promise<void> {
  const remaining = [...items];
  await Promise.all(
    lanes.map(async (lane) => {
      for (let item = remaining.shift(); item !== undefined && !lane.cancelled; item = remaining.shift()) {
        await work(lane, item);
      }
    }),
  );
}

const minutesSince = (startedMs: number) => ((performance.now() - startedMs) / 60_000).toFixed(1);

try {
  process.exitCode = await main();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
