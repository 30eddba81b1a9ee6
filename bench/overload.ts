/**
 * `npm run bench:overload`: compares the built service with the last commit that neither bounded the calls to an operator
 * nor refused requests under overload, in one run on one PostgreSQL. It prints ratios and sets no limit for them.
 *
 * - A slow operator: 400 BETs of an operator that never answers, while BETs of another behind the same address are
 *   measured over 32 connections, against slices without them.
 * - Overload: arrivals at five times the peak over 3,000 connections, against the peak of closed loops before and after.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { asAdmin, type Contestant, type Name, start, type Surroundings } from './contestants.js';
import { readOptions } from './command-line.js';
import { HANGING_PATH } from './hanging.js';
import { occupy, type LoadResult, runLoad } from './overload.load.js';
import { UNBOUNDED } from './previous.js';
import { aligned, milliseconds, whole } from './report.js';
import { bet, type Caller } from './requests.js';
import { withSurroundings } from './surroundings.js';
import { CURRENCY, GAME_ID, PROVIDER_ID, SESSIONS } from './world.js';

const USAGE = `usage: npm run bench:overload -- [options]

  --contestants service,previous
  --only slow,5,30    which to run: the slow operator, and overload with a time-out of 5 or 30 seconds
  --rounds 2
  --connections 3000  connections of the overload`;

const SLOW_OPERATOR_ID = 'bench-slow-operator';
const SLOW_GAME_ID = 'bench-slow-game';
const SLOW_SESSIONS = 400;
/** The operator's time-out and the lease, in seconds: the default with its shortest possible lease, and a long one. */
const TIME_OUTS = [
  { timeout: 5, lease: 6 },
  { timeout: 30, lease: 60 },
] as const;
const OVERLOAD = 5;
const PEAK_CONNECTIONS = 64;

const options = readOptions(USAGE, {
  contestants: { type: 'string', default: 'service,previous' },
  only: { type: 'string', default: 'slow,5,30' },
  rounds: { type: 'string', default: '2' },
  connections: { type: 'string', default: '3000' },
});
const names = options.contestants.split(',') as Name[];
const only = options.only.split(',');
const rounds = Number(options.rounds);
const connections = Number(options.connections);

interface Slow {
  /** Number of answers with status 200 per second, in the slices before and after the slow operator. */
  readonly without: number;
  /** The larger of the two slices' p99, in milliseconds. */
  readonly p99Without: number;
  readonly during: LoadResult;
}

interface Over {
  readonly peak: number;
  readonly over: LoadResult;
}

let slices = 0;

/** Fresh BETs of the operator that answers. */
function bets({ providerSecret: secret }: Contestant): (n: number) => ReturnType<typeof bet> {
  const caller: Caller = { providerId: PROVIDER_ID, secret, gameId: GAME_ID };
  const prefix = `o${(slices += 1)}`;
  return (n) => bet(caller, n % SESSIONS, `${prefix}-${n}`);
}

function slowBets({ providerSecret: secret }: Contestant): (n: number) => ReturnType<typeof bet> {
  const caller: Caller = { providerId: PROVIDER_ID, secret, gameId: SLOW_GAME_ID };
  const prefix = `o${(slices += 1)}`;
  return (n) => bet(caller, SESSIONS + (n % SLOW_SESSIONS), `${prefix}-${n}`);
}

const closed = (contestant: Contestant, count: number, seconds: number) =>
  runLoad({ ...contestant, connections: count, leadInSeconds: 0.5, seconds, request: bets(contestant) });

async function addSlowOperator({ port, database }: Contestant, operatorUrl: string): Promise<void> {
  await asAdmin(port, 'POST', 'operators', {
    id: SLOW_OPERATOR_ID,
    name: SLOW_OPERATOR_ID,
    walletBaseUrl: operatorUrl + HANGING_PATH,
  });
  const game = { providerId: PROVIDER_ID, name: SLOW_GAME_ID, status: 'ACTIVE' };
  await asAdmin(port, 'PUT', `games/${SLOW_GAME_ID}`, game);
  await database.query(
    `INSERT INTO sessions (session_id, token_hash, operator_id, provider_id, player_ref, game_id, currency, mode,
                           created_at, expires_at)
     SELECT gen_random_uuid(), sha256(convert_to('token-' || i, 'UTF8')), $1, $2, 'player-' || i, $3, $4, 'REAL', now(),
            now() + interval '1 day'
       FROM generate_series($5::int, $6::int) i`,
    [SLOW_OPERATOR_ID, PROVIDER_ID, SLOW_GAME_ID, CURRENCY, SESSIONS, SESSIONS + SLOW_SESSIONS - 1],
  );
}

/** Waits until no abandoned requests are under way, for at most 100 seconds. */
async function waitUntilIdle({ port }: Contestant): Promise<void> {
  for (let looks = 0; looks < 100; looks += 1) {
    await sleep(1_000);
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const level = (name: string) => Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1] ?? 0);
    // The request for the metrics counts as one.
    if (level('croupier_http_requests_in_flight') + level('croupier_operator_calls_in_flight') <= 1) return;
  }
}

async function slowOperator(contestant: Contestant): Promise<Slow> {
  const before = await closed(contestant, 32, 3);
  const occupied = await occupy(contestant.port, SLOW_SESSIONS, slowBets(contestant));
  // Start the slice late enough that the first of these BETs time out within it.
  await sleep(2_000);
  const during = await closed(contestant, 32, 6);
  occupied.stop();
  await waitUntilIdle(contestant);
  const after = await closed(contestant, 32, 3);
  return {
    without: (before.goodput + after.goodput) / 2,
    p99Without: Math.max(before.p99, after.p99),
    during,
  };
}

async function overload(contestant: Contestant): Promise<Over> {
  const before = await closed(contestant, PEAK_CONNECTIONS, 3);
  const perSecond = OVERLOAD * before.goodput;
  const over = await runLoad({
    ...contestant,
    connections,
    perSecond,
    leadInSeconds: 3,
    seconds: 8,
    request: bets(contestant),
  });
  await waitUntilIdle(contestant);
  const after = await closed(contestant, PEAK_CONNECTIONS, 3);
  return { peak: (before.goodput + after.goodput) / 2, over };
}

/** Runs the work for each contestant, alternately in order and in reverse order. */
async function inTurn<T>(
  contestants: readonly Contestant[],
  work: (contestant: Contestant) => Promise<T>,
): Promise<Map<Name, T[]>> {
  const results = new Map<Name, T[]>(contestants.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const contestant of round % 2 === 0 ? contestants : contestants.toReversed()) {
      results.get(contestant.name)!.push(await work(contestant));
    }
  }
  return results;
}

async function withContestants<T>(
  surroundings: Surroundings,
  { timeout, lease }: (typeof TIME_OUTS)[number],
  work: (contestants: readonly Contestant[]) => Promise<T>,
): Promise<T> {
  const contestants: Contestant[] = [];
  try {
    for (const name of names) {
      const environment = {
        OPERATOR_TIMEOUT_MS: String(timeout * 1000),
        TRANSACTION_LEASE_SECONDS: String(lease),
        MAX_CONNECTIONS_PER_ADDRESS: '10000',
      };
      contestants.push(await start(name, { ...surroundings, previous: UNBOUNDED, environment }));
    }
    for (const contestant of contestants) await closed(contestant, 32, 3);
    return await work(contestants);
  } finally {
    for (const contestant of contestants) await contestant.stop();
  }
}

const times = (value: number) => `${value.toFixed(2)}×`;
const counts = (outcomes: LoadResult['outcomes']) =>
  Object.entries(outcomes)
    .map(([outcome, count]) => `${outcome} ${count}`)
    .join(', ');

await withSurroundings('overload', async ({ operator, surroundings }) => {
  const slow = only.includes('slow') ? [TIME_OUTS[0]] : [];
  for (const timeOut of slow)
    await withContestants(surroundings, timeOut, async (contestants) => {
      for (const contestant of contestants) await addSlowOperator(contestant, operator.url);
      const rows = [['contestant', '', 'req/s', 'of without', 'p50 ms', 'p99 ms', 'p99 without']];
      for (const [name, results] of await inTurn(contestants, slowOperator)) {
        for (const { without, p99Without, during } of results) {
          const figures = [during.p50, during.p99, p99Without].map(milliseconds);
          rows.push([name, '', whole(during.goodput), times(during.goodput / without), ...figures]);
        }
      }
      console.log(`\nBET, 32, while ${SLOW_SESSIONS} BETs of another operator hang\n\n${aligned(rows)}`);
    });
  for (const timeOut of TIME_OUTS.filter(({ timeout }) => only.includes(String(timeout)))) {
    await withContestants(surroundings, timeOut, async (contestants) => {
      const head = ['contestant', 'answers', 'peak/s', 'goodput', 'p50 ms', 'p99 ms'];
      const rows = [[...head, 'live p50', 'live max', 'MiB']];
      for (const [name, results] of await inTurn(contestants, overload)) {
        for (const { peak, over } of results) {
          const figures = [over.p50, over.p99, over.liveP50, over.liveMax].map(milliseconds);
          const goodput = times(over.goodput / peak);
          rows.push([name, counts(over.outcomes), whole(peak), goodput, ...figures, whole(over.memoryMiB)]);
        }
      }
      const title = `BET, ${OVERLOAD} times the peak over ${connections} connections, time-out ${timeOut.timeout} s, lease ${timeOut.lease} s`;
      console.log(`\n${title}\n\n${aligned(rows)}`);
    });
  }
});
