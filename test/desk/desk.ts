import { Resolver } from '../../src/wallet/resolving/resolver.js';
import { Transactions } from '../world/transactions.js';
import type { Reply, World } from '../world/world.js';

export type Body = ReturnType<World['transaction']>;

/** Lets time pass for one transaction, by the database's clock: it and its last attempt become older. */
export async function letPass(world: World, transactionId: string, seconds: number): Promise<void> {
  await world.sql.run(
    `UPDATE transactions SET created_at = created_at - make_interval(secs => $2),
            updated_at = updated_at - make_interval(secs => $2), lease_until = lease_until - make_interval(secs => $2)
      WHERE transaction_id = $1`,
    [transactionId, seconds],
  );
}

/** Leaves a TIMED_OUT transaction to a person, as the resolver does after a day without an answer. */
export async function parked(world: World, body: Body): Promise<Body> {
  await timedOut(world, body, false);
  await world.sql.run(
    `UPDATE transactions SET created_at = created_at - interval '25 hours', updated_at = updated_at - interval '2 minutes'
      WHERE transaction_id = $1`,
    [body.transactionId],
  );
  await tick(world);
  return body;
}

/** Stops the resolver's timer: only `tick` begins a pass, so that a test can count the calls of one. */
export function stopPolling(world: World): void {
  const { loop } = world.app.get<unknown>(Resolver) as { loop: { timer: NodeJS.Timeout } };
  clearTimeout(loop.timer);
}

/** Runs one pass of the resolver and waits for its end. */
export function tick(world: World): Promise<void> {
  return world.app.get(Resolver).tick();
}

/**
 * Submits a transaction whose operator call fails: TIMED_OUT.
 * @param booked whether the wallet acted
 */
export function timedOut(world: World, body: Body, booked: boolean): Promise<Body> {
  return new Transactions(world).timedOut(body, booked);
}

/** Submits a transaction whose instance dies during the call to the operator: it stays PENDING. */
export async function abandoned(world: World, body: Body): Promise<{ wakeUp(): Promise<Reply> }> {
  const { release, answer } = await new Transactions(world).pending(body);
  return {
    wakeUp: () => {
      release();
      return answer;
    },
  };
}

/** The id of the ROLLBACK with which the platform ended a BET, as it is stored. */
export async function endingOf(world: World, betId: string): Promise<string | undefined> {
  const [row] = await world.sql.run<{ transaction_id: string }>(
    `SELECT transaction_id FROM transactions WHERE original_transaction_id = $1 AND transaction_id LIKE 'croupier-%'
      ORDER BY created_at DESC LIMIT 1`,
    [betId],
  );
  return row?.transaction_id;
}
