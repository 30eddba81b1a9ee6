import type { Database } from '../database/database.js';
import { AuditStore } from './audit.store.js';
import { type Break, Chain } from './chain.js';
import type { Witness } from './entry.js';
import type { Sealer } from './sealer.js';
import { type SealCount, SealCheck } from './seal-check.js';

/** Number of entries, or heads, that are read at a time. */
const PAGE = 1_000;

/** What the log is verified against, beside itself. */
export interface Evidence {
  /** Absent: the seals are not checked. */
  readonly sealer?: Sealer;
  /** Heads from outside of the database: each must still be in the log, unaltered. */
  readonly heads?: Iterable<Witness> | AsyncIterable<Witness>;
}

export type Verdict =
  | {
      readonly kind: 'holds';
      readonly days: number;
      readonly entries: number;
      /** To be kept elsewhere, to show later whether anything up to it was altered. Absent if there is no entry. */
      readonly head?: Witness;
      /** Absent if the seals were not checked. */
      readonly seals?: SealCount;
    }
  | ({ readonly kind: 'broken' } & Break);

/**
 * Verifies the whole audit log beside a running service: the chain of hashes, the seals, and the heads from outside.
 * Only such a head shows that entries were cut off together with their seals.
 */
export async function verifyAudit(database: Database, evidence: Evidence): Promise<Verdict> {
  const store = new AuditStore(database);
  const chain = new Chain();
  // Read before the entries, so that the entry of this seal is among them whatever is appended meanwhile.
  const seals = evidence.sealer && new SealCheck(evidence.sealer, await store.newestSeal());
  const broken = (await follow(store, chain, seals)) ?? (await findLostHead(store, evidence.heads ?? []));
  if (broken) return { kind: 'broken', ...broken };
  const { days, entries, last: head } = chain;
  return { kind: 'holds', days, entries, ...(head && { head }), ...(seals && { seals: seals.count }) };
}

async function follow(
  store: AuditStore,
  chain: Chain,
  seals: SealCheck | undefined,
): Promise<Break | undefined> {
  for (;;) {
    const entries = await store.following(chain.last, PAGE);
    for (const entry of entries) {
      const broken = chain.follow(entry) ?? seals?.follow(entry);
      if (broken) return broken;
    }
    if (entries.length < PAGE) return seals?.end();
  }
}

async function findLostHead(
  store: AuditStore,
  heads: NonNullable<Evidence['heads']>,
): Promise<Break | undefined> {
  let page: Witness[] = [];
  for await (const head of heads) {
    page.push(head);
    if (page.length < PAGE) continue;
    const broken = await lostHeadOf(store, page);
    if (broken) return broken;
    page = [];
  }
  return lostHeadOf(store, page);
}

async function lostHeadOf(store: AuditStore, heads: readonly Witness[]): Promise<Break | undefined> {
  const lost = await store.lostHead(heads);
  if (!lost) return undefined;
  const reason = lost.missing
    ? 'it is missing: there was such an entry once'
    : 'it is not the entry of the witness';
  return { at: `${lost.day}/${lost.position}`, reason };
}
