/**
 * `npm run bench`: the built service as it ships, beside the two floors and the usual stack, in one run on one PostgreSQL
 * and one operator. Short slices alternate (service, floor, lean, usual, usual, lean, floor, service, then in the
 * opposite order) and slices that were run together are compared, because the machine's speed changes by the minute. It
 * takes about ten minutes.
 * A whole run writes bench/results/bench.json and bench.svg; a run with any option only prints its figures.
 */
import { execFileSync } from 'node:child_process';
import { readOptions } from './command-line.js';
import { type Contestant, type Name, NAMES, start } from './contestants.js';
import { type Case, Measuring } from './measure.js';
import { draw } from './plot.js';
import { FASTIFY } from './previous.js';
import { lineOf, table } from './report.js';
import { WORKLOADS } from './requests.js';
import type { Results } from './results.js';
import { writeResult, machineOf, withSurroundings } from './surroundings.js';
import { type Witnessed, witness } from './witness.js';

const USAGE = `usage: npm run bench -- [options]

  --contestants service,previous  which to compare: service, traced (with tracing at a sample ratio of 10 %),
                                  watched (with 200 readers of the live view), previous
                                  (the service at an earlier commit, built on first use), floor, lean, usual
  --previous COMMIT               the commit of \`previous\`; by default the last one on Fastify
  --node service=PATH             the Node that runs a contestant; by default the one that runs the benchmark. May be
                                  repeated.
  --to previous                   the contestant that all ratios refer to; by default the floor, or without it the
                                  last contestant
  --only BET@32,pace@100          which cases: a workload (BET, WIN, replay, balance, verify, mixed) @ connections
                                  (1, 8, 32, 128), or pace@ arrivals per second (100, 400); a workload alone stands
                                  for all of its cases
  --rounds 2                      rounds per case; an open loop has twice as many`;

const CONNECTIONS = [1, 8, 32, 128] as const;
/** Arrivals per second: a small load, and a large part of what two cores can handle. */
const PACES = [100, 400] as const;
/** The contestants of a whole run. */
const WHOLE: readonly Name[] = ['service', 'floor', 'lean', 'usual'];
const ROUNDS = 2;
/** Time after which no case gets another round. */
const LATEST_ROUND_SECONDS = 530;

/** The cases by name, in the order in which they run. */
function casesOf(measuring: Measuring): Map<string, () => Promise<Case>> {
  const closed = WORKLOADS.flatMap((workload) =>
    CONNECTIONS.map(
      (connections) => [`${workload}@${connections}`, () => measuring.closed(workload, connections)] as const,
    ),
  );
  const open = PACES.map((pace) => [`pace@${pace}`, () => measuring.open('BET', pace)] as const);
  return new Map([...closed, ...open]);
}

interface Selection {
  readonly contestants: readonly Name[];
  readonly reference: Name;
  /** The commit of `previous`. */
  readonly previous: string;
  readonly nodes: ReadonlyMap<Name, string>;
  readonly chosen: (caseName: string) => boolean;
  readonly rounds: number;
}

function bench({
  contestants: names,
  reference,
  previous,
  nodes,
  chosen,
  rounds,
}: Selection): Promise<Results> {
  const started = performance.now();
  return withSurroundings('bench', async ({ postgres, operator, surroundings }) => {
    const contestants: Contestant[] = [];
    try {
      for (const name of names) contestants.push(await start(name, { ...surroundings, previous, nodes }));
      const witnessed: Witnessed[] = [];
      for (const contestant of contestants) witnessed.push(await witness(contestant, operator));
      const until = started + LATEST_ROUND_SECONDS * 1000;
      const measuring = new Measuring({ contestants, reference, postgresPid: postgres.pid, rounds, until });
      const wanted = [...casesOf(measuring)].filter(([name]) => chosen(name));
      if (wanted.length === 0) throw new Error('--only matches no case');
      await measuring.warmUp();
      const cases: Case[] = [];
      for (const [name, measure] of wanted) {
        const measured = await measure();
        cases.push(measured);
        const minutes = ((performance.now() - started) / 60_000).toFixed(1);
        console.log(lineOf(`${minutes} min  ${cases.length}/${wanted.length} ${name}`, measured));
      }
      return {
        at: new Date().toISOString(),
        machine: machineOf(postgres),
        settings: postgres.settings,
        rounds,
        contestants: names,
        reference,
        witnessed,
        cases,
      };
    } finally {
      for (const contestant of contestants) await contestant.stop();
    }
  });
}

/**
 * Reads a list of contestants separated by commas.
 * @throws Error if one of them is unknown
 */
function contestantsIn(list: string): readonly Name[] {
  return list.split(',').map((wanted) => {
    const name = NAMES.find((each) => each === wanted);
    if (!name) throw new Error(`${wanted} is not one of ${NAMES.join(', ')}`);
    return name;
  });
}

/**
 * Reads NAME=PATH pairs, and prints the version of each Node.
 * @throws Error if a contestant is unknown, or its Node does not run
 */
function nodesIn(pairs: readonly string[]): ReadonlyMap<Name, string> {
  const nodes = new Map<Name, string>();
  for (const pair of pairs) {
    const [name = '', path = ''] = pair.split('=');
    for (const each of contestantsIn(name)) nodes.set(each, path);
    console.log(`${name} runs on Node ${execFileSync(path, ['--version'], { encoding: 'utf8' }).trim()}`);
  }
  return nodes;
}

const options = readOptions(USAGE, {
  contestants: { type: 'string' },
  to: { type: 'string' },
  previous: { type: 'string', default: FASTIFY },
  node: { type: 'string', multiple: true, default: [] },
  only: { type: 'string' },
  rounds: { type: 'string' },
});
const contestants = options.contestants === undefined ? WHOLE : contestantsIn(options.contestants);
const usualReference = contestants.includes('floor') ? 'floor' : contestants.at(-1)!;
const reference = options.to === undefined ? usualReference : contestantsIn(options.to)[0]!;
if (!contestants.includes(reference)) throw new Error(`--to ${reference} is not one of the contestants`);
const parts = options.only?.split(',');
const results = await bench({
  contestants,
  reference,
  previous: options.previous,
  nodes: nodesIn(options.node),
  chosen: (name) => !parts || parts.some((part) => part === name || name.startsWith(`${part}@`)),
  rounds: Number(options.rounds ?? ROUNDS),
});
console.log(`\n${table(results)}`);
if (process.argv.length === 2) {
  await writeResult('bench.json', `${JSON.stringify(results, null, 2)}\n`);
  await writeResult('bench.svg', draw(results));
  console.log('\nWritten to bench/results.');
}
