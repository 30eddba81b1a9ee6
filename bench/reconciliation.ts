/**
 * `npm run bench:reconciliation`: what a reconciliation over HTTP costs the BETs of the same instance. Slices of BETs
 * alone alternate with slices beside a reconciliation, in one run; it prints their ratios and sets no limit for them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { readOptions } from './command-line.js';
import { type Contestant, postStatement, start } from './contestants.js';
import { type LoadResult, runLoad } from './overload.load.js';
import { aligned, milliseconds, whole } from './report.js';
import { bet, type Caller } from './requests.js';
import { withSurroundings } from './surroundings.js';
import { CURRENCY, GAME_ID, OPERATOR_ID, PROVIDER_ID, SESSIONS } from './world.js';

const USAGE = `usage: npm run bench:reconciliation -- [options]

  --lines 200000      lines of the statement
  --loads 32,100/s    closed loops of so many connections, or arrivals per second
  --rounds 2`;

const options = readOptions(USAGE, {
  lines: { type: 'string', default: '200000' },
  loads: { type: 'string', default: '32,100/s' },
  rounds: { type: 'string', default: '2' },
});
const lines = Number(options.lines);
const SLICE_SECONDS = 3;
const PREFIX = 'reconciled';
/** Connections of the loads that are paced by arrivals. */
const PACED_CONNECTIONS = 32;
const HEADER =
  'providerId,transactionId,kind,originalTransactionId,playerRef,currency,amountMinor,status,bookedAt';

let slices = 0;

function slice(contestant: Contestant, load: string): Promise<LoadResult> {
  const caller: Caller = {
    providerId: PROVIDER_ID,
    secret: contestant.providerSecret,
    gameId: GAME_ID,
  };
  const prefix = `s${(slices += 1)}`;
  const paced = load.endsWith('/s');
  return runLoad({
    ...contestant,
    connections: paced ? PACED_CONNECTIONS : Number(load),
    ...(paced && { perSecond: Number.parseInt(load) }),
    leadInSeconds: 0.3,
    seconds: SLICE_SECONDS,
    request: (n) => bet(caller, n % SESSIONS, `${prefix}-${n}`),
  });
}

/** The seeded BETs, as the operator has booked them. */
function statement(): string {
  const bookedAt = new Date().toISOString();
  const line = (n: number) =>
    `${PROVIDER_ID},${PREFIX}-bet-${n},BET,,player-${n % SESSIONS},${CURRENCY},100,APPROVED,${bookedAt}\n`;
  return `${HEADER}\n${Array.from({ length: lines }, (_, n) => line(n)).join('')}`;
}

/** Slices for as long as a reconciliation runs. */
async function beside(contestant: Contestant, load: string, body: string) {
  const beganAt = performance.now();
  let seconds: number | undefined;
  const query = { operatorId: OPERATOR_ID, from: '2000-01-01', to: '2000-01-02' };
  const reconciliation = postStatement(contestant.port, query, body).then((report) => {
    seconds = (performance.now() - beganAt) / 1000;
    return report;
  });
  const results: LoadResult[] = [];
  while (seconds === undefined) {
    const result = await slice(contestant, load);
    // The last slice is beside a reconciliation for a part of its time only.
    if (seconds === undefined || results.length === 0) results.push(result);
  }
  const { matched, findingsTotal } = await reconciliation;
  if (matched !== lines || findingsTotal > 0)
    throw new Error(`${matched} matched, ${findingsTotal} findings`);
  return { results, seconds };
}

const mean = (results: readonly LoadResult[], figure: 'goodput' | 'p50' | 'p99') =>
  results.reduce((sum, result) => sum + result[figure], 0) / results.length;
const times = (value: number) => `${value.toFixed(2)}×`;

await withSurroundings('reconciliation', async ({ surroundings }) => {
  const contestant = await start('service', surroundings);
  try {
    await contestant.seedBets(PREFIX, lines);
    await contestant.database.query('ANALYZE transactions');
    const body = statement();
    const rows = [
      ['load', 'BET/s', 'of alone', 'p50 ms', 'of alone', 'p99 ms', 'of alone', 'MiB', 'seconds'],
    ];
    for (const load of options.loads.split(',')) {
      await slice(contestant, load);
      for (let round = 0; round < Number(options.rounds); round += 1) {
        const before = [await slice(contestant, load), await slice(contestant, load)];
        const { results, seconds } = await beside(contestant, load, body);
        const alone = [...before, await slice(contestant, load), await slice(contestant, load)];
        const ratio = (figure: 'goodput' | 'p50' | 'p99') =>
          times(mean(results, figure) / mean(alone, figure));
        rows.push([
          load,
          whole(mean(results, 'goodput')),
          ratio('goodput'),
          milliseconds(mean(results, 'p50')),
          ratio('p50'),
          milliseconds(mean(results, 'p99')),
          ratio('p99'),
          whole(Math.max(...results.map(({ memoryMiB }) => memoryMiB))),
          whole(seconds),
        ]);
        await sleep(1000);
      }
    }
    const beganAt = performance.now();
    const query = { operatorId: OPERATOR_ID, from: '2000-01-01', to: '2000-01-02' };
    await postStatement(contestant.port, query, body);
    const idleSeconds = (performance.now() - beganAt) / 1000;
    console.log(`\nBETs beside a reconciliation of ${lines} lines\n\n${aligned(rows)}`);
    console.log(`\nThe same reconciliation on the idle instance: ${whole(idleSeconds)} s`);
  } finally {
    await contestant.stop();
  }
});
