import { setTimeout as sleep } from 'node:timers/promises';
import { asAdmin } from './contestants.js';
import { percentile } from './load.js';
import { CURRENCY } from './world.js';

const PAGES = 40;
/** Time after which no further page is read, in milliseconds: a slow list needs fewer samples. */
const PATIENCE_MS = 10_000;
/** The depth of the deep page, in a list of 90 days. */
const DEEP_MS = 75 * 86_400_000;

/**
 * The time that a page of 50 of a filtered list takes, at the beginning of the list and deep in it, in milliseconds: the
 * median and the slowest of at most 40 pages.
 */
export interface Listing {
  readonly list: string;
  readonly filter: string;
  readonly firstP50?: number;
  readonly firstSlowest?: number;
  /** Absent if the filter leaves too few rows for a deep page. */
  readonly deepP50?: number;
  readonly deepSlowest?: number;
  /** The error that was answered instead of a page, for example because the statement took longer than ten seconds. */
  readonly error?: string;
}

interface Page {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly nextCursor?: string;
}

/** Reads the lists of the desk with each filter that has an index. */
export async function listings(port: number): Promise<Listing[]> {
  const to = new Date(Date.now() - DEEP_MS).toISOString();
  const found: Listing[] = [];
  for (const list of ['transactions', 'sessions']) {
    const [some] = (
      await asAdmin<Page>(port, 'GET', `${list}?limit=1&${String(new URLSearchParams({ to }))}`)
    ).items;
    for (const fields of list === 'transactions' ? TRANSACTION_FILTERS : SESSION_FILTERS) {
      const filter = fields.map((field) => [field, FIXED[field] ?? String(some?.[field])]);
      found.push(await listing(port, list, Object.fromEntries(filter) as Record<string, string>, to));
    }
  }
  return found;
}

const FIXED: Readonly<Record<string, string>> = { state: 'DECLINED', playerRef: 'player-0' };
const TRANSACTION_FILTERS = [
  [],
  ['operatorId'],
  ['providerId'],
  ['operatorId', 'providerId'],
  ['playerRef'],
  ['roundId'],
  ['state'],
  ['operatorId', 'state'],
];
const SESSION_FILTERS = [[], ['operatorId'], ['providerId'], ['playerRef'], ['gameId']];

async function listing(
  port: number,
  list: string,
  filter: Record<string, string>,
  to: string,
): Promise<Listing> {
  const read = (page: Record<string, string>) =>
    asAdmin<Page>(port, 'GET', `${list}?${String(new URLSearchParams({ ...filter, ...page }))}`);
  const name = { list, filter: Object.keys(filter).join(' + ') || 'none' };
  try {
    // A page of one item at this depth gives the cursor of the deep page.
    const { nextCursor } = await read({ to, limit: '1' });
    const first = await timed(() => read({}));
    const deep = nextCursor === undefined ? undefined : await timed(() => read({ cursor: nextCursor }));
    return {
      ...name,
      firstP50: first.p50,
      firstSlowest: first.slowest,
      ...(deep && { deepP50: deep.p50, deepSlowest: deep.slowest }),
    };
  } catch (error) {
    return { ...name, error: (error as Error).message };
  }
}

async function timed(work: () => Promise<unknown>): Promise<{ p50: number; slowest: number }> {
  await work();
  const times: number[] = [];
  const until = performance.now() + PATIENCE_MS;
  while (times.length < PAGES && performance.now() < until) {
    const started = performance.now();
    await work();
    times.push(performance.now() - started);
  }
  const sorted = Float64Array.from(times).sort();
  return { p50: percentile(sorted, 0.5), slowest: percentile(sorted, 1) };
}

const BATCH_PLAYERS = 1_000;

/**
 * Seconds until each player of a free-spins batch of 1,000 has its grant.
 * @throws Error if one failed
 */
export async function batchSeconds(port: number, operatorId: string, gameId: string): Promise<number> {
  const playerRefs = Array.from({ length: BATCH_PLAYERS }, (_, n) => `player-${n}`);
  const order = { operatorId, gameId, spins: 10, betAmountMinor: 20, currency: CURRENCY, playerRefs };
  const started = performance.now();
  const { batchId } = await asAdmin<{ batchId: string }>(port, 'POST', 'free-spins/batches', order);
  for (;;) {
    const batch = await asAdmin<{ granted: number; failed: number; pending: number }>(
      port,
      'GET',
      `free-spins/batches/${batchId}`,
    );
    if (batch.failed > 0) throw new Error(`${batch.failed} grants of a batch failed`);
    if (batch.granted === BATCH_PLAYERS) return (performance.now() - started) / 1000;
    // Each poll reads a thousand rows, so it is not frequent.
    await sleep(200);
  }
}
