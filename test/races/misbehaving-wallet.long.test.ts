import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reconcile } from '../../src/reconciliation/file-reconciliation.js';
import type { FindingName } from '../../src/reconciliation/rules/compare.js';
import { tick } from '../desk/desk.js';
import { until } from '../free-spins/tool.js';
import { csvOf, linesOf } from '../reconciliation/ledger-statement.js';
import { temporaryFolder } from '../world/temporary-folder.js';
import {
  type LaunchedSession,
  OPERATOR,
  OTHER_OPERATOR,
  PROVIDER,
  useWorld,
  type World,
} from '../world/world.js';
import { chosen, misbehaviour, SEED } from './misbehaviour.js';

/** CHAOS_ROUNDS sets the number of rounds. */
const ROUNDS = Number(process.env['CHAOS_ROUNDS'] ?? 500);
const PLAYERS = 50;
const ROUNDS_AT_ONCE = 10;
const START = 100_000;
/** How long the platform waits for the wallet, in milliseconds. */
const PATIENCE_MS = 150;
/** Ticks of the resolver, a minute apart, by which every record must be decided or parked. */
const TICKS = 600;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
const world = useWorld({ OPERATOR_TIMEOUT_MS: String(PATIENCE_MS) });
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());

test(`${ROUNDS} rounds with a wallet that mostly misbehaves end decided or parked, and equal to the wallet`, async () => {
  try {
    const players = await launchPlayers();
    world.wallet.otherwise(misbehaviour());
    await inLanes(ROUNDS_AT_ONCE, ROUNDS, (number) => playRound(players[number % PLAYERS]!, number));
    expect(await answersOfOtherCalls()).toEqual([]);
    await letTheResolverWork();
    const parked = await parkedCount();
    expect(await findings()).toEqual(parked === 0 ? {} : { unresolved: parked });

    world.wallet.otherwise(() => undefined);
    await letPeopleWork();
    expect(await findings()).toEqual({});
    expect(await sumsOfThePlatform()).toEqual(sumsOfTheWallet(players));
    expect(await count(ROLLBACK_OF_A_STANDING_BET)).toBe(0);
    expect(await flaggedWins()).toEqual(await winsWithoutStandingBet());
    const flagged = (await flaggedWins()).length;
    await until('the metric has counted each flagged WIN once', async () => (await counted()) === flagged);
  } catch (error) {
    throw new Error(`with CHAOS_SEED=${SEED}: ${(error as Error).message}`, { cause: error });
  }
}, 180_000);

function launchPlayers(): Promise<LaunchedSession[]> {
  const operators = [OPERATOR, OTHER_OPERATOR];
  const launch = (_: unknown, number: number) =>
    world.launch({ playerRef: `${operators[number % 2]}-player-${number}` }, operators[number % 2]);
  return Promise.all(Array.from({ length: PLAYERS }, launch));
}

async function inLanes(lanes: number, count: number, work: (number: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** One round of a player, in one of the shapes that providers send. */
async function playRound(session: LaunchedSession, number: number): Promise<void> {
  const roundId = `round-${number}`;
  const body = (kind: string, name: string, fields = {}) =>
    world.transaction(session, kind, { transactionId: `${name}-${number}`, roundId, ...fields });
  const amountMinor = (what: string) => chosen(500, what, number);
  const bet = body('BET', 'bet', { amountMinor: amountMinor('stake') });
  const second = body('BET', 'second-bet', { amountMinor: amountMinor('second stake') });
  const win = body('WIN', 'win', { amountMinor: amountMinor('winnings') });
  const undoOf = ({ transactionId }: { transactionId: string }, name: string) =>
    body('ROLLBACK', name, { originalTransactionId: transactionId });
  const undo = undoOf(bet, 'undo');

  switch (chosen(8, 'shape', number)) {
    case 0:
    case 1:
    case 2:
      if ((await submit(bet)) !== 'DECLINED') await submit(win);
      return;
    case 3:
      if ((await submit(bet)) === 'APPROVED') return;
      await submit(undo);
      return;
    case 4:
      await Promise.all([submit(bet), submit(undo)]);
      return;
    case 5:
      await submit(bet);
      await Promise.all([submit(win), submit(undo), submit(undoOf(bet, 'undo-again'))]);
      return;
    case 6:
      await submit(win);
      if ((await submit(bet)) === 'unknown') await submit(undo);
      return;
    default:
      await Promise.all([submit(bet), submit(second)]);
      await Promise.all([submit(win), submit(undoOf(second, 'undo-second'))]);
  }
}

type Body = ReturnType<World['transaction']>;

/**
 * Submits as X-Next-Action says, until there is an answer or this provider gives up; some send each request twice.
 * @returns the status in the answer; `unknown` if the provider gave up
 */
async function submit(body: Body): Promise<unknown> {
  const { transactionId } = body;
  let retries = chosen(5, 'retries', transactionId);
  const twice = chosen(100, 'twice', transactionId) < 15;
  for (let waits = 0; waits < 20;) {
    const [reply] = await Promise.all([send(body), ...(twice ? [send(body)] : [])]);
    if (reply.status === 200) return reply.json['status'];
    switch (reply.nextAction) {
      case 'retry-same-request':
        if ((retries -= 1) < 0) return 'unknown';
        break;
      case 'wait-then-retry':
        waits += 1;
        await pause(5);
        break;
      default:
        throw new Error(`${transactionId} was answered ${reply.status} ${JSON.stringify(reply.json)}`);
    }
  }
  return 'unknown';
}

/** Unlike `world.submit`, does not validate the answer against the document, which costs a third of this test's time. */
async function send(body: Body) {
  const path = '/v1/wallet/transaction';
  const raw = JSON.stringify(body);
  const headers = { 'Content-Type': 'application/json', ...world.signature(PROVIDER, path, raw) };
  const response = await fetch(world.url + path, { method: 'POST', headers, body: raw });
  const json = (await response.json()) as Record<string, unknown>;
  return { status: response.status, json, nextAction: response.headers.get('x-next-action') };
}

/** The ids of the transactions for which the platform has recorded the wallet's answer to another call. */
async function answersOfOtherCalls(): Promise<string[]> {
  const rows = await world.sql.run<{ id: string; booking: string }>(
    `SELECT transaction_id AS id, settled ->> 'operatorTransactionId' AS booking
       FROM transactions, jsonb_array_elements(attempts) AS settled WHERE settled ? 'operatorTransactionId'`,
  );
  const bookings = new Map(
    world.wallet.entries.map(({ transactionId, operatorTransactionId }) => [
      transactionId,
      operatorTransactionId,
    ]),
  );
  return rows.filter(({ id, booking }) => bookings.get(id) !== booking).map(({ id }) => id);
}

const UNDECIDED = `t.state IN ('PENDING', 'TIMED_OUT')`;
/** A BET whose ROLLBACK is under way is decided by it, and parked with it. */
const PARKED = `(t.parked_at IS NOT NULL OR EXISTS (
  SELECT FROM transactions r WHERE r.provider_id = t.provider_id AND r.transaction_id = t.rollback_id
     AND r.state IN ('PENDING', 'TIMED_OUT') AND r.parked_at IS NOT NULL))`;

const ROLLBACK_OF_A_STANDING_BET = `t.kind = 'ROLLBACK' AND t.state = 'APPROVED' AND EXISTS (
  SELECT FROM transactions bet WHERE bet.provider_id = t.provider_id
     AND bet.transaction_id = t.original_transaction_id AND bet.state = 'APPROVED')`;

async function count(condition: string): Promise<number> {
  const [row] = await world.sql.run<{ count: number }>(
    `SELECT count(*)::int AS count FROM transactions t WHERE ${condition}`,
  );
  return row!.count;
}
const parkedCount = () => count(`${UNDECIDED} AND ${PARKED}`);

/** Lets a minute pass before each tick of the resolver. */
async function letTheResolverWork(): Promise<void> {
  for (let done = 0; done < TICKS; done += 1) {
    if ((await count(`${UNDECIDED} AND NOT ${PARKED}`)) === 0) return;
    await world.sql.run(
      `UPDATE transactions t SET created_at = created_at - interval '61 seconds',
              updated_at = updated_at - interval '61 seconds', lease_until = lease_until - interval '61 seconds'
        WHERE ${UNDECIDED}`,
    );
    await tick(world);
  }
  throw new Error('the resolver does not come to an end');
}

/** Number of times that people resolve what is still parked: on a slow machine, an answer may come too late. */
const TRIES = 5;

/** Resolves the parked transactions by hand, with a wallet that works correctly. */
async function letPeopleWork(): Promise<void> {
  for (let done = 0; done < TRIES && (await parkedCount()) > 0; done += 1) {
    const parked = await world.sql.run<{ provider_id: string; transaction_id: string }>(
      `SELECT provider_id, transaction_id FROM transactions t WHERE ${UNDECIDED} AND t.parked_at IS NOT NULL`,
    );
    for (const { provider_id, transaction_id } of parked) {
      const path = `/v1/admin/transactions/${provider_id}/${transaction_id}/resolve`;
      expect((await world.admin('POST', path)).status).toBe(200);
    }
  }
}

/** The findings of `npm run reconcile` between the platform and the wallet's ledger; a name without findings is absent. */
async function findings(): Promise<Partial<Record<FindingName, number>>> {
  const found: Partial<Record<FindingName, number>> = {};
  for (const operatorId of [OPERATOR, OTHER_OPERATOR]) {
    const statementPath = join(folder.path, `${operatorId}.csv`);
    const entries = world.wallet.entries.filter(({ playerRef }) => playerRef.startsWith(operatorId));
    await writeFile(statementPath, csvOf(linesOf(entries)));
    const outcome = await reconcile(
      {
        databaseUrl: world.databaseUrl,
        operatorId,
        statementPath,
        reportPath: join(folder.path, `${operatorId}-report.csv`),
        from: new Date('2000-01-01T00:00:00Z'),
        to: new Date('2100-01-01T00:00:00Z'),
      },
      () => undefined,
      new AbortController().signal,
    );
    for (const [name, number] of Object.entries(outcome.findings) as [FindingName, number][]) {
      if (number > 0) found[name] = (found[name] ?? 0) + number;
    }
  }
  return found;
}

async function sumsOfThePlatform(): Promise<Record<string, number>> {
  const rows = await world.sql.run<{ player: string; sum: string }>(
    `SELECT player_ref AS player, sum(CASE kind WHEN 'BET' THEN -amount_minor WHEN 'WIN' THEN amount_minor END
              ) FILTER (WHERE state = 'APPROVED') AS sum
       FROM transactions GROUP BY player_ref`,
  );
  return Object.fromEntries(rows.map(({ player, sum }) => [player, START + Number(sum)]));
}

function sumsOfTheWallet(players: readonly LaunchedSession[]): Record<string, number> {
  return Object.fromEntries(players.map(({ playerRef }) => [playerRef, world.wallet.balanceOf(playerRef)]));
}

async function flaggedWins(): Promise<string[]> {
  const { json } = await world.admin('GET', '/v1/admin/free-spins-winnings/flagged?limit=500');
  return (json['items'] as Body[]).map(({ transactionId }) => transactionId).sort();
}

async function counted(): Promise<number> {
  const text = await world.metrics();
  return Number(/croupier_flagged_winnings_total\{flag="NO_STANDING_BET"\} (\d+)/.exec(text)?.[1] ?? 0);
}

/** The WINs to flag, computed from all records and without the service's SQL. */
async function winsWithoutStandingBet(): Promise<string[]> {
  const rows = await world.sql.run<{ round: string; id: string; kind: string | null; state: string }>(
    'SELECT round_id AS round, transaction_id AS id, kind, state FROM transactions',
  );
  const has = (round: string, state: string) =>
    rows.some((row) => row.round === round && row.state === state && (row.kind ?? 'BET') === 'BET');
  return rows
    .filter(({ kind, state }) => kind === 'WIN' && state === 'APPROVED')
    .filter(({ round }) => has(round, 'ROLLED_BACK') && !has(round, 'APPROVED'))
    .map(({ id }) => id)
    .sort();
}
