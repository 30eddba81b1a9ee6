/**
 * `npm run bench:profile [-- service|floor|usual]`: where a fresh BET spends the server's time, over 32 connections.
 * Writes a flame graph, bench/results/flame.svg for the service, and V8's profile for Chrome's developer tools, which
 * is not committed.
 */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Contestant, type Name, NAMES, start } from './contestants.js';
import { flameGraph } from './flame.js';
import { Load, type Run, Stock } from './load.js';
import { type CpuProfile, foldSamples, selfTimes } from './profile.tree.js';
import { aligned } from './report.js';
import { prepareRequest } from './requests.js';
import { writeResult, withSurroundings } from './surroundings.js';

const CONNECTIONS = 32;
const WARM_UP = 10_000;
const PROFILED = 20_000;
/** Longest time for the server to write its profile, in milliseconds. */
const WRITING_MS = 30_000;

/** Profiles a contestant under load. */
function takeProfile(name: Name): Promise<{ profile: CpuProfile; run: Run }> {
  return withSurroundings('profile', async ({ surroundings }) => {
    const file = join(surroundings.folder, 'server.cpuprofile');
    const contestant = await start(name, {
      ...surroundings,
      execArgv: ['--import', join(import.meta.dirname, 'profiler.js')],
      environment: { PROFILE_FILE: file },
    });
    try {
      await bets(contestant, 'warm', WARM_UP);
      await toggle(contestant, `${file}.begun`);
      const run = await bets(contestant, 'profiled', PROFILED);
      await toggle(contestant, file);
      return { profile: JSON.parse(await readFile(file, 'utf8')) as CpuProfile, run };
    } finally {
      await contestant.stop();
    }
  });
}

async function bets({ port, providerSecret }: Contestant, prefix: string, count: number): Promise<Run> {
  const requests = Array.from({ length: count }, (_, n) => prepareRequest('BET', providerSecret, prefix, n));
  const load = await Load.open(port, CONNECTIONS);
  const run = await load.closed(new Stock(requests), 120);
  load.close();
  return run;
}

/** Signals the profiler in the server to begin or to end, and waits for the file that confirms it. */
async function toggle({ pid }: Contestant, file: string): Promise<void> {
  process.kill(pid, 'SIGUSR2');
  for (let waited = 0; waited < WRITING_MS; waited += 50) {
    if (await stat(file).catch(() => undefined)) return;
    await sleep(50);
  }
  throw new Error(`the server did not write ${file}`);
}

const { positionals } = parseArgs({ allowPositionals: true });
const name = NAMES.find((each) => each === (positionals[0] ?? 'service'));
if (!name) throw new Error(`one of ${NAMES.join(', ')}`);
const { profile, run } = await takeProfile(name);
const requests = run.latencies.length;
const root = foldSamples(profile);
const base = name === 'service' ? 'flame' : `flame.${name}`;
const title = `${name}: ${requests.toLocaleString('en')} BETs over ${CONNECTIONS} connections, Node ${process.version}`;
const graph = await writeResult(`${base}.svg`, flameGraph(root, requests, title));
const profileFile = await writeResult(`${base}.cpuprofile`, JSON.stringify(profile));
const rows = selfTimes(root).map(([owner, us]) => [
  owner,
  (us / requests).toFixed(1),
  `${((100 * us) / root.us).toFixed(1)} %`,
]);
console.log(`${title}; ${Math.round(requests / run.seconds)} per second under the profiler\n`);
console.log(aligned([['self time of', 'µs per BET', 'share'], ...rows], 1));
console.log(`\nWritten: ${graph} and ${profileFile}`);
