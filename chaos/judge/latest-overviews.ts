import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Readers } from '../load/readers.js';
import type { World } from '../world.js';
import { judgeOverview, type Stored } from './overviews.js';

/** Longest time until every reader has a correct overview, in seconds: its age, its interval and slack. */
const AGREE_SECONDS = 30;
/** Maximum age of what an overview shows, in milliseconds. Contract, section 9, "Live view". */
const AGE_MS = 5_000;

/**
 * Waits until the latest overview of every reader is from after this call, and agrees with the database.
 * @returns descriptions of those that did not agree in time
 */
export async function judgeLatestOverviews(world: World, readers: Readers): Promise<string[]> {
  const began = Date.now();
  const states: { readonly at: number; readonly stored: Stored }[] = [];
  let differences: string[];
  do {
    await sleep(500);
    states.push({
      at: Date.now(),
      stored: await storedIn(await world.databaseUrl(), world.instances.length),
    });
    differences = readers.latest().flatMap(({ overview, instance }) => {
      const reader = `a reader at instance ${instance}`;
      const madeAt = overview ? Date.parse(overview.at) : 0;
      if (!overview || madeAt < began) return [`${reader} has no overview since then`];
      // The resolver decides transactions at a quiet point, too.
      const possible = states.filter(({ at }) => at >= madeAt - AGE_MS).map(({ stored }) => stored);
      return judgeOverview(overview, possible).map((difference) => `${reader} was shown ${difference}`);
    });
  } while (differences.length > 0 && Date.now() < began + AGREE_SECONDS * 1000);
  return differences;
}

async function storedIn(databaseUrl: string, instances: number): Promise<Stored> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const undecided = await client.query<Stored['undecided'][number]>(
      `SELECT operator_id AS "operatorId", provider_id AS "providerId", count(*)::integer AS count,
              count(parked_at)::integer AS parked
         FROM transactions WHERE state IN ('PENDING', 'TIMED_OUT') GROUP BY operator_id, provider_id`,
    );
    const attention = await client.query<{ kind: string; count: number }>(
      `SELECT kind, count(*)::integer AS count FROM attention_items WHERE state = 'OPEN' GROUP BY kind`,
    );
    const waiting = await client.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM approvals WHERE state = 'WAITING'`,
    );
    const tenants = await client.query<{ id: string; kind: string }>('SELECT id, kind FROM tenants');
    const idsOf = (wanted: string) => tenants.rows.filter(({ kind }) => kind === wanted).map(({ id }) => id);
    return {
      operators: idsOf('OPERATOR'),
      providers: idsOf('PROVIDER'),
      undecided: undecided.rows,
      attention: Object.fromEntries(attention.rows.map(({ kind, count }) => [kind, count])),
      approvalsWaiting: waiting.rows[0]!.count,
      instances,
    };
  } finally {
    await client.end();
  }
}
