import { Unmet } from '../outcome.js';
import { describeReply, type Reply } from '../../reply.js';

/** The wallet's answer to a transaction. */
export interface Decision {
  status: 'APPROVED' | 'DECLINED';
  /** Minor units. */
  balance: number;
  /** The `reason`, of whatever type; undefined if it is absent or null, which the platform takes as the same. */
  reason: unknown;
}

const SENT_AGAIN =
  'The platform takes any other answer as no answer: it sends the transaction again until it is decided.';
const MISDIRECTED =
  'The platform takes a misdirected answer, which names another call or none, as no answer: name the call in each answer, exactly as the request does.';

const NO_ACCOUNT =
  'If the wallet serves /balance, the player needs an account in this currency: check --player and --currency, or --other-player and --other-currency.';

/** @throws Unmet unless the platform would accept the reply as the decision on this order */
export function decisionOf(reply: Reply, { transactionId }: { transactionId: string }): Decision {
  const { status, balance, reason } = reply.json ?? {};
  const isDecision = status === 'APPROVED' || status === 'DECLINED';
  if (reply.status !== 200 || !isDecision || !Number.isSafeInteger(balance)) {
    throw new Unmet(
      'status 200 with {transactionId, status: "APPROVED" or "DECLINED", balance: a whole number of minor units}',
      describeReply(reply),
      reply.status === 200 ? undefined : SENT_AGAIN,
    );
  }
  expectNamed(reply, { transactionId });
  return { status, balance: balance as number, reason: reason ?? undefined };
}

/** @throws Unmet unless the platform would accept the reply as the balance that was asked for */
export function balanceOf(reply: Reply, { playerRef, currency }: Record<string, unknown>): number {
  const balance = reply.json?.['balance'];
  if (reply.status !== 200 || !Number.isSafeInteger(balance))
    throw new Unmet(
      'status 200 with {playerRef, currency, balance: a whole number of minor units}',
      describeReply(reply),
      reply.status === 404 ? NO_ACCOUNT : undefined,
    );
  expectNamed(reply, { playerRef, currency });
  return balance as number;
}

/** Expects that the answer has these fields of its request, as they were sent. */
function expectNamed(reply: Reply, fields: Record<string, unknown>): void {
  for (const [field, sent] of Object.entries(fields)) {
    const named = reply.json?.[field];
    if (named === sent) continue;
    throw new Unmet(
      `an answer with ${field} ${JSON.stringify(sent)}`,
      `${named === undefined ? `no ${field}` : `${field} ${JSON.stringify(named)}`} in ${describeReply(reply)}`,
      MISDIRECTED,
    );
  }
}
