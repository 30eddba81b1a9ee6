import type { Database } from '../database/database.js';
import { AuditStore, pagesOf } from './audit.store.js';
import { archiveBefore, type RecordedArchive } from './archive/archive.js';
import { BrokenAuditError, Chain } from './chain.js';
import { placeText, type Witness } from './entry.js';
import { type SealCount, SealCheck, type Sealer } from './sealer.js';

interface VerifiedLog {
  readonly days: number;
  readonly entries: number;
  /** The newest entry; undefined if the log is empty. */
  readonly head: Witness | undefined;
  /** Undefined if the seals were not checked. */
  readonly seals: SealCount | undefined;
  /** The archive after which the log begins; undefined if no entries were detached. */
  readonly archive: RecordedArchive | undefined;
  /** Number of heads of detached entries that could not be compared: see `compareHeads`. */
  readonly headsNotCompared: number;
}

/**
 * Verifies the audit log, from its first entry or from the end of the last detached archive: the chain of hashes, the
 * seals, and the heads from outside. Only such a head reveals that the newest entries were removed with their seals.
 * The service may be running at the same time.
 * @param evidence.sealer without it, the seals are not checked
 * @param evidence.heads each must still be in the log, unaltered
 * @throws BrokenAuditError
 */
export async function verifyAudit(
  database: Database,
  evidence: { sealer?: Sealer | undefined; heads?: Iterable<Witness> | AsyncIterable<Witness> },
): Promise<VerifiedLog> {
  const { sealer, heads = [] } = evidence;
  const store = new AuditStore(database);
  // This seal is read before the entries, so that they include the sealed entry.
  const newest = await store.newestSeal();
  const [first] = await store.following(undefined, 1);
  const archive = first && (await archiveBefore(first, store, sealer));
  if (archive) await requireSeals(store, archive);
  const chain = new Chain(archive?.head);
  const seals = sealer && new SealCheck(sealer, newest, archive?.lastSeal);
  for await (const page of store.pages(chain.last)) {
    for (const entry of page) {
      chain.follow(entry);
      seals?.follow(entry);
    }
  }
  seals?.end();
  const headsNotCompared = await compareHeads(heads, store, sealer, archive?.head);
  const { days, entries, last: head } = chain;
  return { days, entries, head, seals: seals?.count, archive, headsNotCompared };
}

/** Checks that all seals of archived entries are in the database. They remain there to prove the archived files. */
async function requireSeals(store: AuditStore, { head, lastSeal }: RecordedArchive): Promise<void> {
  const count = await store.countSeals(lastSeal);
  if (count === lastSeal) return;
  const reason = `only ${count} of the ${lastSeal} seals up to this archived entry are there`;
  throw new BrokenAuditError(placeText(head), reason);
}

const NOT_THE_ENTRY = 'it is not the entry that the head was taken from';

/**
 * Checks that heads kept outside of the database are entries of the log. The head of a detached entry is compared with
 * the entry's seal, which stays in the database.
 * @param lastDetached the last detached entry; undefined if there is none
 * @returns the number of heads that could not be compared: those of detached entries without a seal of their own, or
 *   with a seal of an unknown key, or all of them if there is no sealer
 * @throws BrokenAuditError if a head is not an entry of the log
 */
async function compareHeads(
  heads: Iterable<Witness> | AsyncIterable<Witness>,
  store: AuditStore,
  sealer: Sealer | undefined,
  lastDetached: Witness | undefined,
): Promise<number> {
  let notCompared = 0;
  for await (const page of pagesOf(heads)) {
    const detached = page.filter((head) => isDetached(head, lastDetached));
    const seals = new Map((await store.sealsAt(detached)).map((seal) => [placeText(seal), seal]));
    for (const head of detached) {
      const seal = seals.get(placeText(head));
      const verdict = seal && sealer ? sealer.judge(seal, head.hash) : 'unknown-key';
      if (verdict === 'forged') throw new BrokenAuditError(placeText(head), NOT_THE_ENTRY);
      if (verdict === 'unknown-key') notCompared += 1;
    }
    const lost = await store.lostHead(page.filter((head) => !isDetached(head, lastDetached)));
    if (lost) {
      const reason = lost.missing ? 'it is missing, although it existed earlier' : NOT_THE_ENTRY;
      throw new BrokenAuditError(placeText(lost), reason);
    }
  }
  return notCompared;
}

function isDetached({ day, position }: Witness, last: Witness | undefined): boolean {
  return last !== undefined && (day < last.day || (day === last.day && position <= last.position));
}

/** @throws Error if the audit log is broken: a command must not append to it then */
export async function requireValidAudit(database: Database, sealer: Sealer): Promise<void> {
  await verifyAudit(database, { sealer }).catch((error: unknown) => {
    if (!(error instanceof BrokenAuditError)) throw error;
    throw new Error(`the audit log is broken at ${error.message}; see npm run audit:verify`);
  });
}
