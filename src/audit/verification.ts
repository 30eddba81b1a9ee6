import type { Database } from '../database/database.js';
import { AuditStore, pagesOf } from './audit.store.js';
import { archiveBefore, type RecordedArchive } from './archive/archive.js';
import { type Break, Chain } from './chain.js';
import { placeText, type Witness } from './entry.js';
import { type SealCount, SealCheck, type Sealer } from './sealer.js';

type LogVerdict =
  | {
      readonly kind: 'holds';
      readonly days: number;
      readonly entries: number;
      /** The newest entry; absent if the log is empty. */
      readonly head?: Witness;
      /** Absent if the seals were not checked. */
      readonly seals?: SealCount;
      /** The archive after which the log begins; absent if no entries were detached. */
      readonly archive?: RecordedArchive;
      /** Number of heads of detached entries that could not be compared: see `compareHeads`. */
      readonly headsNotCompared: number;
    }
  | ({ readonly kind: 'broken' } & Break);

/**
 * Verifies the audit log, from its first entry or from the end of the last detached archive: the chain of hashes, the
 * seals, and the heads from outside. Only such a head reveals that the newest entries were removed with their seals.
 * The service may be running at the same time.
 * @param evidence.sealer without it, the seals are not checked
 * @param evidence.heads each must still be in the log, unaltered
 */
export async function verifyAudit(
  database: Database,
  evidence: { sealer?: Sealer; heads?: Iterable<Witness> | AsyncIterable<Witness> },
): Promise<LogVerdict> {
  const { sealer, heads = [] } = evidence;
  const store = new AuditStore(database);
  // This seal is read before the entries, so that they include the sealed entry.
  const newest = await store.newestSeal();
  const [first] = await store.following(undefined, 1);
  const archive = first && (await archiveBefore(first, store, sealer));
  if (archive && 'reason' in archive) return { kind: 'broken', ...archive };
  const lost = archive && (await findLostSeal(store, archive));
  if (lost) return { kind: 'broken', ...lost };
  const chain = new Chain(archive?.head);
  const seals = sealer && new SealCheck(sealer, newest, archive?.lastSeal);
  const broken = await follow(store, chain, seals);
  if (broken) return { kind: 'broken', ...broken };
  const compared = await compareHeads(heads, store, sealer, archive?.head);
  if ('reason' in compared) return { kind: 'broken', ...compared };
  const { days, entries, last: head } = chain;
  return {
    kind: 'holds',
    days,
    entries,
    ...(head && { head }),
    ...(seals && { seals: seals.count }),
    ...(archive && { archive }),
    headsNotCompared: compared.notCompared,
  };
}

/** Checks that all seals of archived entries are in the database. They remain there to prove the archived files. */
async function findLostSeal(
  store: AuditStore,
  { head, lastSeal }: RecordedArchive,
): Promise<Break | undefined> {
  const count = await store.countSeals(lastSeal);
  if (count === lastSeal) return undefined;
  const reason = `only ${count} of the ${lastSeal} seals up to this archived entry are there`;
  return { at: placeText(head), reason };
}

async function follow(
  store: AuditStore,
  chain: Chain,
  seals: SealCheck | undefined,
): Promise<Break | undefined> {
  for await (const entries of store.pages(chain.last)) {
    for (const entry of entries) {
      const broken = chain.follow(entry) ?? seals?.follow(entry);
      if (broken) return broken;
    }
  }
  return seals?.end();
}

const NOT_THE_ENTRY = 'it is not the entry that the head was taken from';

/**
 * Checks that heads kept outside of the database are entries of the log. The head of a detached entry is compared with
 * the entry's seal, which stays in the database.
 * @param lastDetached the last detached entry; undefined if there is none
 * @returns a head that is not an entry of the log, or the number of heads that could not be compared: those of detached
 *   entries without a seal of their own, or with a seal of an unknown key, or all of them if there is no sealer
 */
async function compareHeads(
  heads: Iterable<Witness> | AsyncIterable<Witness>,
  store: AuditStore,
  sealer: Sealer | undefined,
  lastDetached: Witness | undefined,
): Promise<Break | { readonly notCompared: number }> {
  let notCompared = 0;
  for await (const page of pagesOf(heads)) {
    const detached = page.filter((head) => isDetached(head, lastDetached));
    const seals = new Map((await store.sealsAt(detached)).map((seal) => [placeText(seal), seal]));
    for (const head of detached) {
      const seal = seals.get(placeText(head));
      const verdict = seal && sealer ? sealer.judge(seal, head.hash) : 'unknown-key';
      if (verdict === 'forged') return { at: placeText(head), reason: NOT_THE_ENTRY };
      if (verdict === 'unknown-key') notCompared += 1;
    }
    const lost = await store.lostHead(page.filter((head) => !isDetached(head, lastDetached)));
    if (lost) {
      const reason = lost.missing ? 'it is missing, although it existed earlier' : NOT_THE_ENTRY;
      return { at: placeText(lost), reason };
    }
  }
  return { notCompared };
}

function isDetached({ day, position }: Witness, last: Witness | undefined): boolean {
  return last !== undefined && (day < last.day || (day === last.day && position <= last.position));
}

/** @throws Error if the audit log is broken: a command must not append to it then */
export async function requireValidAudit(database: Database, sealer: Sealer): Promise<void> {
  const verdict = await verifyAudit(database, { sealer });
  if (verdict.kind !== 'broken') return;
  throw new Error(`the audit log is broken at ${verdict.at}: ${verdict.reason}; see npm run audit:verify`);
}
