import { type Intent, intentKey } from '../load/history.js';
import type { BalanceRecord, CallRecord } from '../processes/counterparts.process.js';

/**
 * Finds answers with a balance that the operator's wallet stated neither in an answer to the same transaction nor in one
 * about the balance of the same player: the service took it from the answer to another call.
 * @param calls the calls of each transaction, by `intentKey`
 */
export function judgeBalances(
  intents: Iterable<Intent>,
  calls: ReadonlyMap<string, readonly CallRecord[]>,
  reads: Iterable<BalanceRecord>,
): string[] {
  const ofPlayer = new Map<string, Set<number>>();
  for (const { operatorId, playerRef, balance } of reads) {
    const known = ofPlayer.get(playerKey(operatorId, playerRef)) ?? new Set();
    ofPlayer.set(playerKey(operatorId, playerRef), known.add(balance));
  }
  const violations: string[] = [];
  for (const { session, request, answers } of intents) {
    const id = intentKey(session.providerId, request.transactionId);
    const stated = new Set(calls.get(id)?.flatMap(({ balances }) => balances));
    const read = ofPlayer.get(playerKey(session.operatorId, session.playerRef));
    const told = new Set(answers.flatMap(({ body }) => (body === undefined ? [] : [balanceIn(body)])));
    for (const balance of told) {
      if (stated.has(balance) || read?.has(balance)) continue;
      violations.push(
        `${id}: the provider was told the balance ${balance}, which the wallet stated to another call`,
      );
    }
  }
  return violations;
}

function playerKey(operatorId: string, playerRef: string): string {
  return `${operatorId} ${playerRef}`;
}

function balanceIn(body: string): number {
  return (JSON.parse(body) as { balance: number }).balance;
}
