import { Client } from 'pg';
import { expect, onTestFinished } from 'vitest';
import type { ReceivedCall } from '../world/counterpart.js';
import { grantOrder } from '../world/grant-order.js';
import type { Reply, World } from '../world/world.js';

/** In milliseconds: longer than a test holds a callback before it releases it, even on a busy machine. */
export const HELD_CALLBACK_TIMEOUT_MS = 1_500;
/** Maximum number of calls of a batch that one instance has in flight to one provider. */
export const CALLS_AT_ONCE = 8;

export interface CallbackRow {
  readonly route: string;
  readonly provider_id: string;
  readonly body: string;
  readonly status: number | null;
  readonly answer: string | null;
  readonly error: string | null;
  readonly duration_ms: number | null;
}

/** The promotion tool for tests. */
export class Tool {
  readonly order = grantOrder;

  constructor(readonly world: World) {}

  post(body: object): Promise<Reply> {
    return this.world.admin('POST', '/v1/admin/free-spins', body);
  }

  /** A grant that the provider has granted. */
  async granted(fields: Record<string, unknown> = {}): Promise<Reply['json'] & { requestRef: string }> {
    const reply = await this.post(this.order(fields));
    if (reply.status !== 201) throw new Error(`a grant was answered ${reply.status} ${reply.text}`);
    return reply.json as Reply['json'] & { requestRef: string };
  }

  read(requestRef: string): Promise<Reply> {
    return this.world.admin('GET', `/v1/admin/free-spins/${encodeURIComponent(requestRef)}`);
  }

  async state(requestRef: string): Promise<unknown> {
    return (await this.read(requestRef)).json['state'];
  }

  act(requestRef: string, action: 'status' | 'cancel' | 'resend'): Promise<Reply> {
    return this.world.admin('POST', `/v1/admin/free-spins/${encodeURIComponent(requestRef)}/${action}`);
  }

  /** The calls of a route that the provider received about a grant. */
  calls(path: string, requestRef: string): ReceivedCall[] {
    return this.world.provider.received.filter(
      ({ path: called, json }) =>
        called === path &&
        (json['requestRef'] === requestRef || json['externalRef'] === `batch-of-${requestRef}`),
    );
  }

  /** The attempts that were logged about a grant or session. */
  callbacks(reference: string): Promise<CallbackRow[]> {
    return this.world.sql.run<CallbackRow>(
      'SELECT * FROM callbacks WHERE reference = $1 ORDER BY callback_id',
      [reference],
    );
  }

  /** Expires the lease of this grant's callback, as if its instance had died. */
  async endLease(requestRef: string): Promise<void> {
    const past = `clock_timestamp() - interval '1 second'`;
    await this.world.sql.run(
      `UPDATE free_spin_grants SET lease_until = CASE WHEN lease_until IS NOT NULL THEN ${past} END,
              cancel_lease_until = CASE WHEN cancel_lease_until IS NOT NULL THEN ${past} END
        WHERE request_ref = $1`,
      [requestRef],
    );
  }
}

/** Number of the advisory lock for which a suspended callback waits. */
const SUSPENDED = 4_711;

/**
 * Suspends the next callback on the route after its claim and before its call, until `release`.
 * @param then what happens in the database after that, in PL/pgSQL
 */
export async function suspendCallback({ sql, databaseUrl }: World, route: string, then = '') {
  const blocker = new Client({ connectionString: databaseUrl });
  await blocker.connect();
  await blocker.query('SELECT pg_advisory_lock($1)', [SUSPENDED]);
  await sql.run(`
    CREATE SEQUENCE suspended;
    CREATE FUNCTION suspend() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF nextval('suspended') = 1 THEN PERFORM pg_advisory_xact_lock(${SUSPENDED}); ${then} END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER suspend BEFORE INSERT ON callbacks FOR EACH ROW WHEN (NEW.route = '${route}')
      EXECUTE FUNCTION suspend()`);
  onTestFinished(async () => {
    // If an assertion failed before `release`, the suspended callback would block the DROP.
    await blocker.end();
    // The trigger first: CASCADE locks partitions before their table, and could deadlock with an INSERT.
    await sql.run('DROP TRIGGER suspend ON callbacks; DROP FUNCTION suspend; DROP SEQUENCE suspended');
  });
  // The view lists the locks of all databases, such as those of another test file.
  const waiting = `SELECT FROM pg_locks JOIN pg_database ON oid = database AND datname = current_database()
                    WHERE locktype = 'advisory' AND objid = ${SUSPENDED} AND NOT granted`;
  return {
    arrived: () => until('an attempt waits', async () => (await sql.run(waiting)).length === 1),
    release: () => blocker.end(),
  };
}

/** Waits until the condition holds: in the longer suites, whose tests have more time, for longer. */
export async function until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  const patienceMs = expect.getState().testPath?.endsWith('.long.test.ts') ? 30_000 : 10_000;
  for (const end = Date.now() + patienceMs; Date.now() < end;) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`waited too long until ${what}`);
}
