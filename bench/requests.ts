import { signRequest } from '@croupier/provider-sdk';
import { randomUUID } from 'node:crypto';
import type { PreparedRequest, Reply } from './load.js';
import { CURRENCY, GAME_ID, PROVIDER_ID, SESSIONS } from './world.js';

export const WORKLOADS = ['BET', 'WIN', 'replay', 'balance', 'verify', 'mixed'] as const;
export type Workload = (typeof WORKLOADS)[number];

/** The workloads whose requests depend on BETs that were seeded with the same prefix. */
export function needsBets(workload: Workload): boolean {
  return workload === 'WIN' || workload === 'replay';
}

/** The signing tenant, and its game. */
export interface Caller {
  readonly providerId: string;
  readonly secret: string;
  readonly gameId: string;
}

/**
 * The n-th request of a workload, signed now: it must be sent within the signature's window.
 * @param prefix the prefix of its ids, and of the BETs seeded for it
 */
export function prepareRequest(
  workload: Workload,
  secret: string,
  prefix: string,
  n: number,
): PreparedRequest {
  const caller = { providerId: PROVIDER_ID, secret, gameId: GAME_ID };
  switch (workload) {
    case 'BET':
      return bet(caller, n % SESSIONS, `${prefix}-fresh-${n}`);
    case 'WIN':
      return transaction(caller, 'WIN', `${prefix}-win-${n}`, `${prefix}-round-${n}`, n % SESSIONS);
    case 'replay':
      return transaction(caller, 'BET', `${prefix}-bet-${n}`, `${prefix}-round-${n}`, n % SESSIONS, replayed);
    case 'balance':
      return balance(caller, n % SESSIONS);
    case 'verify':
      return verify(caller, n % SESSIONS);
    case 'mixed':
      return partOfRound(caller, prefix, n);
  }
}

/** A fresh BET in a round of its own, in the session of that number. */
export function bet(caller: Caller, session: number, transactionId: string): PreparedRequest {
  return transaction(caller, 'BET', transactionId, transactionId, session);
}

/** Number of requests of a mixed round: verify, BET, balance, WIN, and the WIN again as after a lost answer. */
export const ROUND_LENGTH = 5;

function partOfRound(caller: Caller, prefix: string, n: number): PreparedRequest {
  const round = Math.floor(n / ROUND_LENGTH);
  const session = round % SESSIONS;
  const roundId = `${prefix}-mixed-${round}`;
  switch (n % ROUND_LENGTH) {
    case 0:
      return verify(caller, session);
    case 1:
      return transaction(caller, 'BET', `${roundId}-bet`, roundId, session);
    case 2:
      return balance(caller, session);
    case 3:
      return transaction(caller, 'WIN', `${roundId}-win`, roundId, session);
    default:
      return transaction(caller, 'WIN', `${roundId}-win`, roundId, session, replayed);
  }
}

function transaction(
  caller: Caller,
  kind: 'BET' | 'WIN',
  transactionId: string,
  roundId: string,
  session: number,
  also: (reply: Reply) => boolean = first,
): PreparedRequest {
  const { gameId } = caller;
  const body = {
    sessionToken: `token-${session}`,
    transactionId,
    kind,
    playerRef: `player-${session}`,
    gameId,
    currency: CURRENCY,
    amountMinor: 100,
    roundId,
  };
  return prepareSigned(caller, '/v1/wallet/transaction', body, (reply) => {
    const answer = JSON.parse(reply.body) as Record<string, unknown>;
    return (
      answer['transactionId'] === transactionId &&
      answer['status'] === 'APPROVED' &&
      answer['balance'] === 100_000 &&
      answer['currency'] === CURRENCY &&
      typeof answer['platformTransactionId'] === 'string' &&
      also(reply)
    );
  });
}

function first(reply: Reply): boolean {
  return !replayed(reply);
}

function replayed(reply: Reply): boolean {
  return /\r\nidempotency-replayed: true/i.test(reply.head);
}

function balance(caller: Caller, session: number): PreparedRequest {
  const fields = { sessionToken: `token-${session}` };
  return prepareSigned(caller, '/v1/wallet/balance', fields, ({ body }) => body === '{"balance":100000}');
}

export function verify(caller: Caller, session: number): PreparedRequest {
  const fields = { sessionToken: `token-${session}` };
  return prepareSigned(caller, '/v1/wallet/session/verify', fields, ({ body }) => {
    const answer = JSON.parse(body) as Record<string, unknown>;
    return answer['playerRef'] === `player-${session}` && answer['gameId'] === caller.gameId;
  });
}

function prepareSigned(
  { providerId, secret }: Caller,
  path: string,
  fields: object,
  accepts: (reply: Reply) => boolean,
): PreparedRequest {
  const body = JSON.stringify(fields);
  const now = Math.floor(Date.now() / 1000);
  const nonce = randomUUID();
  const headers = {
    Host: '127.0.0.1',
    'Content-Type': 'application/json',
    'Content-Length': String(body.length),
    ...signRequest({ method: 'POST', path, body, tenantId: providerId, secret, nonce, now }),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return {
    bytes: Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`),
    accepts: (reply) => reply.status === 200 && accepts(reply),
  };
}
