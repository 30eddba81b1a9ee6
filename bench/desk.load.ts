import { signRequest } from '@croupier/provider-sdk';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { asAdmin, type Contestant } from './contestants.js';
import { percentile } from './load.js';
import { CURRENCY, OPERATOR_ID } from './world.js';

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

type Filter = Readonly<Record<string, string>>;
type Read = (list: string, query: Filter) => Promise<Page>;

/** Reads the lists of the desk, and those of operators, with their filters. */
export async function listings({ port, operatorSecret }: Contestant): Promise<Listing[]> {
  const to = new Date(Date.now() - DEEP_MS).toISOString();
  const found: Listing[] = [];
  const reads: Readonly<Record<string, Read>> = {
    '': (list, query) => asAdmin<Page>(port, 'GET', `${list}?${String(new URLSearchParams(query))}`),
    'operator/': (list, query) => readAsOperator(port, operatorSecret, list, query),
  };
  for (const [prefix, read] of Object.entries(reads)) {
    for (const [list, filters] of Object.entries(FILTERS)) {
      const [some] = (await read(list, { limit: '1', to })).items;
      for (const fields of filters) {
        if (prefix !== '' && fields.includes('operatorId')) continue;
        const filter = fields.map((field) => [field, FIXED[field] ?? String(some?.[field])]);
        const name = { list: `${prefix}${list}`, filter: fields.join(' + ') || 'none' };
        const page = (query: Filter) => read(list, { ...Object.fromEntries(filter), ...query });
        found.push({ ...name, ...(await listing(page, to)) });
      }
    }
  }
  return found;
}

/** The values of filters that are not taken from a row. */
const FIXED: Filter = {
  state: 'DECLINED',
  playerRef: 'player-0',
  kind: 'WIN',
  winKind: 'GAME',
  minAmountMinor: '50',
  maxAmountMinor: '150',
  open: 'true',
  olderThanMinutes: '1440',
};
const FILTERS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  transactions: [
    [],
    ['operatorId'],
    ['providerId'],
    ['operatorId', 'providerId'],
    ['playerRef'],
    ['roundId'],
    ['state'],
    ['operatorId', 'state'],
    ['kind', 'winKind'],
    ['minAmountMinor', 'maxAmountMinor'],
  ],
  rounds: [[], ['operatorId'], ['providerId'], ['playerRef'], ['open'], ['open', 'olderThanMinutes']],
  sessions: [[], ['operatorId'], ['providerId'], ['playerRef'], ['gameId']],
};

async function readAsOperator(port: number, secret: string, list: string, query: Filter): Promise<Page> {
  const parameters = String(new URLSearchParams(query));
  const path = `/v1/operator/${list}${parameters && `?${parameters}`}`;
  const call = { method: 'GET', path, body: '', tenantId: OPERATOR_ID, secret, nonce: randomUUID() };
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: signRequest({ ...call, now: Date.now() / 1000 }),
  });
  if (!response.ok) throw new Error(`${path} was answered ${response.status} ${await response.text()}`);
  return (await response.json()) as Page;
}

async function listing(
  read: (query: Filter) => Promise<Page>,
  to: string,
): Promise<Omit<Listing, 'list' | 'filter'>> {
  try {
    // A page of one item at this depth gives the cursor of the deep page.
    const { nextCursor } = await read({ to, limit: '1' });
    const first = await timed(() => read({}));
    const deep = nextCursor === undefined ? undefined : await timed(() => read({ cursor: nextCursor }));
    return {
      firstP50: first.p50,
      firstSlowest: first.slowest,
      ...(deep && { deepP50: deep.p50, deepSlowest: deep.slowest }),
    };
  } catch (error) {
    return { error: (error as Error).message };
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
