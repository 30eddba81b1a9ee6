import { join } from 'node:path';
import { readStorage } from '../config/configuration.js';
import { readEnvironment } from '../config/environment.js';
import { money } from '../money/money.js';
import { isProgram, readArguments } from '../runtime/command-line.js';
import { failureText } from '../runtime/failure-text.js';
import { Randomness } from '../runtime/randomness.js';
import { visibleLines } from '../runtime/visible.js';
import { playFaults } from './faults.round.js';
import { playFreeSpins, type Transaction } from './free-spins.round.js';
import { START_BALANCE_MINOR } from '../sandbox/ledger.js';
import { PlatformClient } from '../sandbox/platform-client.js';
import { readSandboxFile, type SandboxFile, sandboxFileIn } from '../sandbox/sandbox-file.js';
import { type RoundOutput, TranscriptClient } from './transcript-client.js';

const COMMAND = {
  name: 'round',
  help: `npm run round [-- --faults]

Plays rounds and free spins in the sandbox of the service that uses the same DATA_DIR, and prints each request with its
answer.

  --faults   the counterparts misbehave, and the service's reaction is explained

Exit status 0: played; 1: an unexpected answer, or there is no sandbox; 2: unknown arguments.`,
  options: { faults: { type: 'boolean' } },
} as const;

const GAME_ID = 'sandbox-slots';
const CURRENCY = 'EUR';
const BET_MINOR = 2500;
const WIN_MINOR = 4000;
const UNDONE_BET_MINOR = 1000;
const PRIZE_MINOR = 500;
/** What the operator's regulator demands of the session; the stake is limited to twice the initial balance. */
const RESTRICTIONS = { maxBetMinor: 2 * START_BALANCE_MINOR, jurisdiction: 'MT', realityCheckSeconds: 3600 };

/**
 * Plays rounds and free spins over real HTTP, in a session that the sandbox's operator launches for a new player.
 * Prints each request with its answer.
 * @throws Error with a readable message at the first unexpected answer
 */
export async function playRound(sandbox: SandboxFile, output: RoundOutput): Promise<void> {
  const id = new Randomness().bytes(4).toString('hex');
  const player = { playerRef: `player-${id}`, gameId: GAME_ID, currency: CURRENCY };
  const client = new TranscriptClient(new PlatformClient(sandbox.apiUrl), output);

  const launch = {
    title: 'The operator launches a session',
    path: '/v1/operator/sessions',
    body: { ...player, ...RESTRICTIONS },
  };
  const launched = await client.play(sandbox.operator, launch, {
    status: 201,
    fields: { gameId: GAME_ID, providerId: sandbox.provider.id, mode: 'REAL' },
  });
  const sessionToken = launched.json['sessionToken'];

  const call = (title: string, route: string, body: object, fields: object) => {
    const request = { title, path: `/v1/wallet/${route}`, body: { sessionToken, ...body } };
    return client.play(sandbox.provider, request, { status: 200, fields });
  };
  const submit = (title: string, transaction: Transaction, fields: object) =>
    call(title, 'transaction', { ...transaction, ...player }, fields);

  await call('The provider verifies the session', 'session/verify', {}, { ...player, ...RESTRICTIONS });

  const afterBet = START_BALANCE_MINOR - BET_MINOR;
  const bet = { transactionId: `${id}-bet-1`, kind: 'BET', roundId: `${id}-1`, amountMinor: BET_MINOR };
  const booked = await submit('A BET', bet, { status: 'APPROVED', balance: afterBet });

  const afterWin = afterBet + WIN_MINOR;
  const win = { transactionId: `${id}-win-1`, kind: 'WIN', roundId: bet.roundId, amountMinor: WIN_MINOR };
  await submit(
    'The WIN of that round',
    { ...win, roundClosed: true },
    { status: 'APPROVED', balance: afterWin },
  );
  const details = `/v1/admin/rounds/${sandbox.provider.id}/${bet.roundId}`;
  const result = { betMinor: BET_MINOR, winMinor: WIN_MINOR };
  const round = 'The round as administrators see it; roundDetailsUrl is its page at the provider';
  await client.read(sandbox.adminApiKey, round, details, { status: 200, fields: result });

  const balance = afterWin + PRIZE_MINOR;
  const prize = {
    transactionId: `${id}-prize`,
    kind: 'WIN',
    roundId: `${id}-prize`,
    amountMinor: PRIZE_MINOR,
  };
  const promotion = { winKind: 'PROMOTION', promotionRef: 'sandbox-prize-draw' };
  await submit('A prize, without a BET', { ...prize, ...promotion }, { status: 'APPROVED', balance });
  await call('The balance', 'balance', {}, { balance });

  const tooMuch = { transactionId: `${id}-bet-2`, kind: 'BET', roundId: `${id}-2`, amountMinor: balance + 1 };
  const declined = { status: 'DECLINED', declineReason: 'INSUFFICIENT_FUNDS', balance };
  await submit('A BET above the balance', tooMuch, declined);
  const tooHigh = { ...tooMuch, transactionId: `${id}-bet-4`, amountMinor: RESTRICTIONS.maxBetMinor + 1 };
  const limited = { ...declined, declineReason: 'STAKE_ABOVE_LIMIT' };
  await submit("A BET above the session's maxBetMinor: the wallet is not asked", tooHigh, limited);

  const replay = await submit('The first BET again: no money moves', bet, { balance: afterBet });
  if (replay.text !== booked.text || replay.headers.get('Idempotency-Replayed') !== 'true') {
    throw new Error('The repeated BET was not answered as a replay of the first answer.');
  }

  const undone = {
    transactionId: `${id}-bet-3`,
    kind: 'BET',
    roundId: `${id}-3`,
    amountMinor: UNDONE_BET_MINOR,
  };
  await submit('A BET in another round', undone, { status: 'APPROVED', balance: balance - UNDONE_BET_MINOR });
  const rollback = { transactionId: `${id}-rollback-3`, kind: 'ROLLBACK', roundId: undone.roundId };
  const named = { ...rollback, originalTransactionId: undone.transactionId };
  await submit('Its ROLLBACK', named, { status: 'APPROVED', balance });
  await call('The balance, as before that BET', 'balance', {}, { balance });

  const wonMinor = await playFreeSpins(sandbox, output, { ...player, id, balance, submit });

  output.print(`\nThe round was played: ${player.playerRef} has ${money(balance + wonMinor, CURRENCY)}.`);
}

/** Plays in the sandbox of the service that uses the same DATA_DIR. */
async function main(): Promise<void> {
  const values = readArguments(COMMAND);
  if (!values) return;
  const colours = process.stdout.isTTY && process.stdout.hasColors();
  const output = { print: (text: string) => void process.stdout.write(`${text}\n`), colours };
  try {
    const { dataDir } = readEnvironment(readStorage);
    const file = sandboxFileIn(join(dataDir, 'sandbox'));
    const sandbox = await readSandboxFile(file);
    if (!sandbox) throw new Error(`There is no sandbox in ${file}: start the service with npm start.`);
    await (values.faults ? playFaults(sandbox, output) : playRound(sandbox, output));
  } catch (error) {
    process.stderr.write(`\n${visibleLines(failureText(error))}\n`);
    process.exitCode = 1;
  }
}

if (isProgram(import.meta.url)) await main();
