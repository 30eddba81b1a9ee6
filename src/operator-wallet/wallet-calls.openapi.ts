import type { OutgoingCall } from '../openapi/outgoing-calls.js';
import {
  WalletBalanceRequest,
  WalletBalanceResponse,
  WalletTransactionRequest,
  WalletTransactionResponse,
} from './wallet-messages.js';

const SENT =
  'Sent to this path below `walletBaseUrl`, over kept-alive connections, without following redirects; the ' +
  "complete answer must arrive within the operator's `walletTimeoutMs` (`OPERATOR_TIMEOUT_MS`, 5 s, by " +
  'default). Verify the signature over the raw body before anything else, and answer 401 if it is invalid. ';

const NO_ANSWER =
  'Not an answer: the outcome is unknown, and the provider gets a 500. Later, the same body may be sent again, or a BET ' +
  'reversed by a ROLLBACK. Do not answer 200 with a guess';

const ROUND = { playerRef: 'player-42', gameId: 'sandbox-slots', currency: 'EUR', roundId: 'round-7' };
const PROVIDER = { providerId: 'sandbox-provider' };

const MOVEMENTS: Readonly<Record<string, { summary: string; value: WalletTransactionRequest }>> = {
  BET: {
    summary: 'A BET: take the stake, or decline',
    value: { transactionId: 'bet-1001', ...PROVIDER, kind: 'BET', ...ROUND, amountMinor: 250 },
  },
  WIN: {
    summary: 'A WIN: pay it, whatever the balance',
    value: {
      transactionId: 'win-1001',
      ...PROVIDER,
      kind: 'WIN',
      ...ROUND,
      amountMinor: 500,
      roundClosed: true,
    },
  },
  JACKPOT: {
    summary: 'A jackpot: a WIN that needs no BET',
    value: {
      transactionId: 'jackpot-1001',
      ...PROVIDER,
      kind: 'WIN',
      ...ROUND,
      amountMinor: 250000,
      winKind: 'JACKPOT',
      promotionRef: 'mega-jackpot',
    },
  },
  ROLLBACK: {
    summary: 'A ROLLBACK: give the stake of the BET back, once',
    value: {
      transactionId: 'undo-1001',
      ...PROVIDER,
      kind: 'ROLLBACK',
      ...ROUND,
      amountMinor: 250,
      originalTransactionId: 'bet-1001',
    },
  },
  ADJUSTMENT: {
    summary: 'An ADJUSTMENT by support: its amount is signed, and it belongs to no round',
    value: {
      transactionId: 'adjustment-4711',
      providerId: 'platform',
      kind: 'ADJUSTMENT',
      playerRef: 'player-42',
      currency: 'EUR',
      amountMinor: -250,
    },
  },
};

const DECISIONS: Readonly<Record<string, { summary: string; value: WalletTransactionResponse }>> = {
  APPROVED: {
    summary: 'Booked',
    value: {
      transactionId: 'bet-1001',
      status: 'APPROVED',
      balance: 99750,
      operatorTransactionId: 'w-88121',
    },
  },
  INSUFFICIENT_FUNDS: {
    summary: 'Declined: the balance is too low',
    value: { transactionId: 'bet-1001', status: 'DECLINED', balance: 100, reason: 'INSUFFICIENT_FUNDS' },
  },
  TOMBSTONE: {
    summary: 'Declined: a BET whose ROLLBACK came first',
    value: {
      transactionId: 'bet-1001',
      status: 'DECLINED',
      balance: 100000,
      reason: 'TRANSACTION_ROLLED_BACK',
    },
  },
};

/** The calls that an operator's wallet implements. Contract, section 4. */
export const WALLET_CALLS: readonly OutgoingCall[] = [
  {
    party: 'operator',
    path: '/transaction',
    tag: 'Transactions',
    operationId: 'bookTransaction',
    summary: "Book a BET, WIN, ROLLBACK or ADJUSTMENT in the operator's wallet",
    description:
      SENT +
      '\n\n**Idempotency.** `providerId` and `transactionId` together identify a transaction. If it arrives ' +
      'again, later or at the same time, answer with the same status and reason, and move no money: after a time-out, ' +
      'Croupier may send the same body again.\n\n**One reversal.** Reverse a transaction at most once, whatever ids its ' +
      'ROLLBACKs have.\n\n**Tombstones.** A ROLLBACK of a transaction that you never booked is `APPROVED`, ' +
      'moves nothing, and is remembered: a BET with that id that arrives afterwards is `DECLINED`.',
    body: { type: WalletTransactionRequest, examples: MOVEMENTS },
    answered: { description: 'Your decision', type: WalletTransactionResponse, examples: DECISIONS },
    otherwise: NO_ANSWER,
  },
  {
    party: 'operator',
    path: '/balance',
    tag: 'Transactions',
    operationId: 'readBalance',
    summary: "Read a player's balance in the operator's wallet",
    description: `${SENT}It changes nothing.`,
    body: {
      type: WalletBalanceRequest,
      examples: { balance: { value: { playerRef: 'player-42', currency: 'EUR' } } },
    },
    answered: {
      description: 'The balance at this moment',
      type: WalletBalanceResponse,
      examples: { balance: { value: { playerRef: 'player-42', currency: 'EUR', balance: 99750 } } },
    },
    otherwise: 'Not an answer: the provider gets a 500 and may try again',
  },
];
