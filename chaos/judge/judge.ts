import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { join } from 'node:path';
import { HEADER } from '../../src/reconciliation/statement.js';
import type { Faults } from '../faults.js';
import { type History, type Intent, intentKey } from '../load/history.js';
import type { Providers } from '../load/provider.js';
import type { ReaderCounts, Readers } from '../load/readers.js';
import {
  type BalanceRecord,
  BOOKED_AND_LOST,
  type CallRecord,
  type DeliveryRecord,
  type Fate,
} from '../processes/counterparts.process.js';
import { run } from '../processes/child.js';
import type { Name, Place } from '../processes/names.js';
import { OPERATORS, type World } from '../world.js';
import { judgeBalances } from './balances.js';
import type { Coverage } from './coverage.js';
import { judgeDelays } from './delays.js';
import { Ledgers, linesOf, OperatorLedger, type Sums } from './ledgers.js';
import { type Move, roundsOf } from './moves.js';
import { judgeRefusals } from './refusals.js';
import { judgeRound } from './round.js';
import { judgeStops } from './stops.js';

export interface Verdict {
  readonly violations: readonly string[];
  readonly coverage: Coverage;
  readonly sums: Sums;
  readonly rounds: number;
  readonly transactions: number;
  readonly moves: number;
  readonly takenOver: number;
  readonly endedByPlatform: number;
  readonly grants: number;
  /** The delays of BETs while there were no faults, in milliseconds. */
  readonly calmDelays: readonly number[];
  /** Requests whose connection a stopping instance closed, as it may. */
  readonly sentAgainAtStops: number;
  readonly readers: ReaderCounts & { readonly refused: number };
}

/** The evidence for a verdict, collected after the load. */
export interface Evidence {
  readonly world: World;
  readonly history: History;
  readonly providers: Providers;
  readonly readers: Readers;
  readonly faults: Faults;
  /** The folder with the counterparts' files, to which the operators' statements are added. */
  readonly folder: string;
}

/** Checks a run from the records of all parties. */
export async function judge(evidence: Evidence): Promise<Verdict> {
  const { world, history, providers, readers, faults, folder } = evidence;
  const delays = judgeDelays(history.intents.values(), history.faults);
  const refusals = judgeRefusals(readers.refusals, history.faults);
  const violations = [...providers.violations, ...refusals, ...delays.violations];
  const operators = new Map<string, OperatorLedger>();
  for (const id of OPERATORS) operators.set(id, await readLedger(join(folder, `ledger-${id}.jsonl`)));
  const calls = await callsById(join(folder, 'calls.jsonl'));
  for await (const id of linesOf<string>(join(folder, 'altered.jsonl'))) {
    violations.push(`${id}: the operator received a request that differs from the first one with this id`);
  }
  const reads: BalanceRecord[] = [];
  for await (const read of linesOf<BalanceRecord>(join(folder, 'balances.jsonl'))) reads.push(read);
  violations.push(...judgeBalances(history.intents.values(), calls, reads));
  const deliveries = await readDeliveries(join(folder, 'deliveries.jsonl'));
  const grants = await judgeGrants(join(folder, 'grants.jsonl'), violations);

  const databaseUrl = await world.databaseUrl();
  const ledgers = new Ledgers(operators, history.intents);
  const byRound = intentsByRound(history);
  const counts = { rounds: 0, transactions: 0, moves: 0, takenOver: 0, endedByPlatform: 0 };
  let beforeCall = 0;
  let tombstones = 0;
  for await (const moves of roundsOf(databaseUrl)) {
    const [first] = moves;
    const intents =
      byRound.get(roundId(first!.providerId, first!.playerRef, first!.roundId ?? '')) ??
      new Map<string, Intent>();
    const judgement = judgeRound(moves, intents);
    violations.push(...judgement.violations);
    ledgers.compareRound(judgement.rows, judgement.fixed);
    counts.rounds += 1;
    counts.transactions += judgement.rows.size;
    counts.moves += moves.length;
    counts.takenOver += moves.filter(
      ({ attempt, fixed, state }) => !fixed && attempt > 1 && state === 'PENDING',
    ).length;
    for (const [id, { kind }] of judgement.fixed) {
      if (kind === null) tombstones += 1;
      if (id.startsWith('croupier-')) counts.endedByPlatform += 1;
    }
    beforeCall += takenOverBeforeCall(moves, calls);
  }
  ledgers.finish();
  violations.push(...ledgers.violations);
  violations.push(...(await judgeByCommands(world, operators, folder)));

  const answers = [...history.intents.values()].flatMap((intent) => intent.answers);
  const coded = (code: string) => answers.filter((answer) => answer.code === code).length;
  const withFate = (fates: readonly Fate[]) =>
    [...calls.values()].flat().filter(({ fate }) => fates.includes(fate)).length;
  const refused = await Promise.all(
    world.instances.map((instance) => instance.logged('attempt was taken over')),
  );
  const stops = judgeStops(providers.unanswered, history.faults);
  violations.push(...stops.violations);
  for (const { number, overdue } of world.instances) {
    if (overdue > 0) violations.push(`instance ${number} did not stop in time, ${overdue} times`);
  }
  return {
    violations,
    sums: ledgers.sums,
    ...counts,
    grants,
    calmDelays: delays.calm,
    sentAgainAtStops: stops.sentAgain,
    readers: { ...readers.counts, refused: readers.refusals.length },
    coverage: {
      'a lease was taken over between claim and call': beforeCall,
      'booked, and the answer lost': withFate(BOOKED_AND_LOST),
      'two answers of a wallet changed places': sumOf(deliveries.map(({ swaps }) => swaps)),
      "a wallet's answer was sent once more": sumOf(deliveries.map(({ repeats }) => repeats)),
      'a ROLLBACK came before its BET': tombstones,
      'a replay while in flight': coded('TRANSACTION_IN_FLIGHT'),
      'Redis was unavailable when a nonce was claimed': coded('REPLAY_PROTECTION_UNAVAILABLE'),
      'a fail-over during a commit': faults.failOversDuringCommit,
      'a resumed instance could not settle its old attempt': sumOf(refused),
      'a connection was opened while PostgreSQL had other settings that a connection can state':
        faults.connectionsWithOtherSettings.statable,
      'a connection was opened while PostgreSQL had another session_replication_role':
        faults.connectionsWithOtherSettings.replicationRole,
      "a connection went to the wallets' new address": relayedTo(world, 'wallet', 'moved'),
      "a connection went to the database's new address": relayedTo(world, 'database', 'moved'),
      "a connection went to a stranger because of the wallets' name": relayedTo(world, 'wallet', 'other'),
      "a connection went to the standby because of the database's name": relayedTo(
        world,
        'database',
        'other',
      ),
      "the wallets' name did not resolve": world.names.failures('wallet'),
      "the database's name did not resolve": world.names.failures('database'),
      'a reader of the console connected again': readers.counts.returns,
    },
  };
}

function relayedTo(world: World, name: Name, place: Place): number {
  return sumOf(world.linksTo(name, place).map(({ relayed }) => relayed));
}

/** How the wallets' answers were delivered. */
async function readDeliveries(path: string): Promise<DeliveryRecord[]> {
  const operators: readonly string[] = OPERATORS;
  const deliveries: DeliveryRecord[] = [];
  for await (const delivery of linesOf<DeliveryRecord>(path)) {
    if (operators.includes(delivery.party)) deliveries.push(delivery);
  }
  return deliveries;
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

async function readLedger(path: string): Promise<OperatorLedger> {
  return OperatorLedger.read(path);
}

async function callsById(path: string): Promise<Map<string, CallRecord[]>> {
  const calls = new Map<string, CallRecord[]>();
  for await (const call of linesOf<CallRecord>(path)) {
    const id = intentKey(call.providerId, call.transactionId);
    const known = calls.get(id);
    if (known) known.push(call);
    else calls.set(id, [call]);
  }
  return calls;
}

/** Counts the attempts that were taken over before their call reached the operator. */
function takenOverBeforeCall(
  moves: readonly Move[],
  calls: ReadonlyMap<string, readonly CallRecord[]>,
): number {
  const claimed = new Map<string, Move>();
  let count = 0;
  for (const move of moves) {
    const before = claimed.get(move.transactionId);
    if (before && move.attempt > before.attempt && before.state === 'PENDING') {
      const ofIt = calls.get(intentKey(move.providerId, move.transactionId)) ?? [];
      if (!ofIt.some(({ at }) => at >= before.at - 1 && at <= move.at)) count += 1;
    }
    claimed.set(move.transactionId, move);
  }
  return count;
}

async function judgeGrants(path: string, violations: string[]): Promise<number> {
  let grants = 0;
  for await (const { requestRef, count } of linesOf<{ requestRef: string; count: number }>(path)) {
    grants += 1;
    if (count > 1) violations.push(`the grant ${requestRef} was sent ${count} times`);
  }
  return grants;
}

/**
 * Runs the commands that operations staff would run after an incident: verification of the audit log, and
 * reconciliation with each operator.
 */
async function judgeByCommands(
  world: World,
  operators: ReadonlyMap<string, OperatorLedger>,
  folder: string,
): Promise<string[]> {
  const env = await world.environment();
  const violations: string[] = [];
  const command = async (name: string, args: readonly string[]) => {
    await run(process.execPath, [`dist/commands/${name}.js`, ...args], { env }).catch((error: unknown) => {
      violations.push(`${name}: ${(error as Error).message.trim()}`);
    });
  };
  await command('audit-verify', []);
  for (const [operatorId, { entries }] of operators) {
    const statement = join(folder, `statement-${operatorId}.csv`);
    const file = createWriteStream(statement);
    file.write(`${HEADER}\n`);
    for (const entry of entries.values()) {
      const { providerId, transactionId, kind, originalTransactionId = '', playerRef, currency } = entry;
      const fields = [providerId, transactionId, kind, originalTransactionId, playerRef, currency];
      file.write(`${[...fields, entry.amountMinor, entry.status, entry.bookedAt].join(',')}\n`);
    }
    file.end();
    await finished(file);
    const range = ['--from', DAY_BEFORE, '--to', DAY_AFTER];
    await command('reconcile', ['--operator', operatorId, ...range, '--statement', statement]);
  }
  return violations;
}

const DAY_MS = 86_400_000;
const DAY_BEFORE = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10);
const DAY_AFTER = new Date(Date.now() + 2 * DAY_MS).toISOString().slice(0, 10);

function intentsByRound({ intents }: History): Map<string, Map<string, Intent>> {
  const byRound = new Map<string, Map<string, Intent>>();
  for (const intent of intents.values()) {
    const { session, request } = intent;
    const id = roundId(session.providerId, session.playerRef, request.roundId);
    let ofRound = byRound.get(id);
    if (!ofRound) byRound.set(id, (ofRound = new Map<string, Intent>()));
    ofRound.set(request.transactionId, intent);
  }
  return byRound;
}

function roundId(providerId: string, playerRef: string, round: string): string {
  return `${providerId} ${playerRef} ${round}`;
}
