import { PlatformClient } from '../sandbox/platform-client.js';
import { PLAY_PATH } from '../sandbox/provider.server.js';
import type { SandboxFile } from '../sandbox/sandbox-file.js';
import { type RoundOutput, TranscriptClient } from './transcript-client.js';

const SPINS = 3;
const BET_MINOR = 100;
const WIN_MINOR = 700;

/** The round so far, and a function that submits a transaction. */
interface RoundState {
  /** Prefix of all ids of this round. */
  readonly id: string;
  readonly playerRef: string;
  readonly gameId: string;
  readonly currency: string;
  /** The player's balance, in minor units. */
  readonly balance: number;
  readonly submit: (title: string, transaction: Transaction, fields: object) => Promise<unknown>;
}

export interface Transaction {
  transactionId: string;
  kind: string;
  roundId: string;
  amountMinor?: number;
  roundClosed?: boolean;
  originalTransactionId?: string;
  freeSpinsRef?: string;
  winKind?: string;
  promotionRef?: string;
}

/**
 * Grants free spins, plays one at the sandbox's provider, books what it won and cancels the rest.
 * @returns the winnings, in minor units
 * @throws Error with a readable message at the first unexpected answer
 */
export async function playFreeSpins(
  { apiUrl, providerUrl, provider, operator, adminApiKey }: SandboxFile,
  output: RoundOutput,
  { id, playerRef, gameId, currency, balance, submit }: RoundState,
): Promise<number> {
  const platform = new TranscriptClient(new PlatformClient(apiUrl), output);
  const game = new TranscriptClient(new PlatformClient(providerUrl), output);
  const requestRef = `${id}-free-spins`;

  const act = (title: string, action: string, fields: object) =>
    platform.play(
      operator,
      { title, path: `/v1/operator/free-spins/${requestRef}/${action}`, body: {} },
      { status: 200, fields },
    );

  const body = { requestRef, playerRef, gameId, spins: SPINS, betAmountMinor: BET_MINOR, currency };
  const grant = { title: 'The operator grants free spins', path: '/v1/operator/free-spins', body };
  const granted = await platform.play(operator, grant, {
    status: 201,
    fields: { requestRef, state: 'GRANTED' },
  });
  const externalRef = String(granted.json['externalRef']);

  await act('The remaining spins, according to the provider', 'status', {
    remainingSpins: SPINS,
    completed: false,
  });

  const spin = {
    title: 'A spin is played, at the provider',
    path: PLAY_PATH,
    body: { externalRef, playerRef, gameId },
  };
  await game.play(provider, spin, { status: 200, fields: { remainingSpins: SPINS - 1, completed: false } });

  const win = { transactionId: `${id}-spin-1`, kind: 'WIN', roundId: `${id}-spin-1`, amountMinor: WIN_MINOR };
  await submit(
    'The WIN of that spin, without a BET',
    { ...win, freeSpinsRef: externalRef },
    {
      status: 'APPROVED',
      balance: balance + WIN_MINOR,
    },
  );

  await act('The remaining spins now', 'status', { remainingSpins: SPINS - 1, completed: false });
  await act('The operator cancels the rest', 'cancel', { state: 'CANCELLED' });

  const winnings = { count: 1, totalMinor: WIN_MINOR };
  const path = `/v1/admin/free-spins/${requestRef}`;
  await platform.read(adminApiKey, 'The grant as administrators see it, with its winnings', path, {
    status: 200,
    fields: { state: 'CANCELLED', externalRef, winnings },
  });
  return WIN_MINOR;
}
