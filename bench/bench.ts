/**
 * `npm run bench`: the built service as it ships, beside the floor and the usual stack, in one run on one PostgreSQL
 * and one operator. Short slices alternate (service, floor, usual, usual, floor, service, and then the other way
 * round) and neighbours are compared, for the machine is never the same twice. It ends within ten minutes.
 *
 * npm run bench -- [--only BET@32,pace@100,…] [--rounds 2]
 *
 *   --only    cases: a workload (BET, WIN, replay, balance, verify, mixed) `@` connections (1, 8, 32, 128), or `pace@`
 *             arrivals in a second (100, 400); without what follows the `@` it is all of them
 *   --rounds  of each case; an open loop has twice as many
 *
 * A whole run writes bench/results/bench.json and bench.svg; one that is asked for less only says what it saw.
 */
import { parseArgs } from 'node:util';
import { type Contestant, NAMES, start } from './contestants.js';
import { type Case, Measuring } from './measure.js';
import { draw } from './plot.js';
import { lineOf, table } from './report.js';
import { WORKLOADS } from './requests.js';
import { keep, machineOf, surrounded } from './surroundings.js';
import { type Witnessed, witness } from './witness.js';

const CONNECTIONS = [1, 8, 32, 128] as const;
/** Arrivals in a second: hardly any load, and a good deal of what two cores bear. */
const PACES = [100, 400] as const;
const ROUNDS = 2;
/** After so long no case gets another round: the whole has to end within ten minutes on any machine. */
const LATEST_ROUND_SECONDS = 530;

export type Results = Awaited<ReturnType<typeof bench>>;

/** The cases by their names, in the order in which they are run. */
function casesOf(measuring: Measuring): Map<string, () => Promise<Case>> {
  const closed = WORKLOADS.flatMap((workload) =>
    CONNECTIONS.map(
      (connections) => [`${workload}@${connections}`, () => measuring.closed(workload, connections)] as const,
    ),
  );
  const open = PACES.map((pace) => [`pace@${pace}`, () => measuring.open('BET', pace)] as const);
  return new Map([...closed, ...open]);
}

function bench(chosen: (name: string) => boolean, rounds: number) {
  const started = performance.now();
  return surrounded('bench', async ({ postgres, operator, surroundings }) => {
    const contestants: Contestant[] = [];
    try {
      for (const name of NAMES) contestants.push(await start(name, surroundings));
      const witnessed: Witnessed[] = [];
      for (const contestant of contestants) witnessed.push(await witness(contestant, operator));
      const until = started + LATEST_ROUND_SECONDS * 1000;
      const measuring = new Measuring(contestants, postgres.pid, rounds, until);
      const wanted = [...casesOf(measuring)].filter(([name]) => chosen(name));
      if (wanted.length === 0) throw new Error('--only chooses none of the cases');
      await measuring.warmUp();
      const cases: Case[] = [];
      for (const [name, measure] of wanted) {
        const measured = await measure();
        cases.push(measured);
        const minutes = ((performance.now() - started) / 60_000).toFixed(1);
        console.log(lineOf(`${minutes} min  ${cases.length}/${wanted.length} ${name}`, measured));
      }
      const at = new Date().toISOString();
      return { at, machine: machineOf(postgres), settings: postgres.settings, rounds, witnessed, cases };
    } finally {
      for (const contestant of contestants) await contestant.stop();
    }
  });
}

const { values: asked } = parseArgs({ options: { only: { type: 'string' }, rounds: { type: 'string' } } });
const parts = asked.only?.split(',');
const results = await bench(
  (name) => !parts || parts.some((part) => part === name || name.startsWith(`${part}@`)),
  Number(asked.rounds ?? ROUNDS),
);
console.log(`\n${table(results)}`);
if (asked.only === undefined && asked.rounds === undefined) {
  await keep('bench.json', `${JSON.stringify(results, null, 2)}\n`);
  await keep('bench.svg', draw(results));
  console.log('\nWritten to bench/results.');
}
