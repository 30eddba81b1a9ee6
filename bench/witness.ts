import pg from 'pg';
import type { Contestant, Name } from './contestants.js';
import { Load, Stock } from './load.js';
import type { Operator } from './operator.process.js';
import { prepareRequest } from './requests.js';

const CONNECTIONS = 32;
const REQUESTS = 640;

/** Observations from outside, over connections that see only committed rows. All except `bets` must be 0. */
export interface Witnessed {
  readonly name: Name;
  readonly bets: number;
  /** Calls that reached the operator before their claim was committed. */
  readonly calledBeforeClaim: number;
  /** Calls with an invalid signature. */
  readonly unsigned: number;
  /** Answers that reached the provider before the settlement was committed. */
  readonly answeredBeforeSettlement: number;
}

/**
 * Checks from outside that a contestant commits each claim before it calls the operator, and each settlement before
 * it answers.
 * @throws Error if it calls or answers too early, which would make its figures worthless
 */
export async function witness(contestant: Contestant, operator: Operator): Promise<Witnessed> {
  const { name, databaseUrl, pendingSql, approvedSql, operatorSecret } = contestant;
  await operator.watch({ databaseUrl, pendingSql, secret: operatorSecret });
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 4 });
  const load = await Load.open(contestant.port, CONNECTIONS);
  const looks: Promise<boolean>[] = [];
  const requests = Array.from({ length: REQUESTS }, (_, n) => {
    const request = prepareRequest('BET', contestant.providerSecret, 'witness', n);
    const look = async () => (await pool.query(approvedSql, [`witness-fresh-${n}`])).rowCount === 1;
    return {
      ...request,
      accepts: (reply: Parameters<typeof request.accepts>[0]) =>
        looks.push(look()) > 0 && request.accepts(reply),
    };
  });
  await load.closed(new Stock(requests), 60);
  load.close();
  const seen = await Promise.all(looks);
  await pool.end();
  const { calls, unclaimed, unsigned } = await operator.watch(null);
  const answeredBeforeSettlement = seen.filter((settled) => !settled).length;
  const witnessed = {
    name,
    bets: REQUESTS,
    calledBeforeClaim: unclaimed,
    unsigned,
    answeredBeforeSettlement,
  };
  if (calls !== REQUESTS || unclaimed + unsigned + answeredBeforeSettlement > 0) {
    throw new Error(`not the order that the contract demands: ${JSON.stringify({ ...witnessed, calls })}`);
  }
  return witnessed;
}
