import type { Database } from '../../database/database.js';
import { AuditStore, pagesOf } from '../audit.store.js';
import { type Break, Chain, followsDay, hasItsHash, isFirstOfAll } from '../chain.js';
import {
  type Entry,
  type EntryPlace,
  headText,
  type NewEntry,
  parseHead,
  placeText,
  type SealedEntry,
  type Witness,
} from '../entry.js';
import { type SealCount, SealCheck, type Sealer } from '../sealer.js';
import { entriesIn, readHeader, sha256Of } from './archive-file.js';

const ACTION = 'audit.archive';
const TARGET = 'archive:';
/** Maximum number of records of archives that are read: verification needs only the one before the log's beginning. */
const CONSIDERED = 1_000;

/** A part of the log that is kept in a file: all entries of a partition. */
export interface Archive {
  /** The partition's name, such as `audit_entries_2026_01`. */
  readonly partition: string;
  /** The last entry of the file. */
  readonly head: Witness;
  /** The number of the newest seal up to the head; 0 if there is none. */
  readonly lastSeal: number;
  readonly entries: number;
  /** SHA-256 of the file, 64 lower-case hex digits. */
  readonly sha256: string;
}

export interface RecordedArchive extends Archive {
  readonly record: SealedEntry;
}

export function auditEntryOf({ partition, head, lastSeal, entries, sha256 }: Archive): NewEntry {
  return {
    action: ACTION,
    target: TARGET + partition,
    after: { head: headText(head), lastSeal, entries, sha256 },
  };
}

/**
 * The archives whose records are genuine, latest part of the log first.
 * @param sealer undefined to check only the hashes of the records
 */
export async function genuineArchives(
  store: AuditStore,
  sealer: Sealer | undefined,
): Promise<RecordedArchive[]> {
  const genuine = (await recordedArchives(store)).filter((each) => doubtOf(each, sealer) === undefined);
  return genuine.sort((left, right) => (left.head.day < right.head.day ? 1 : -1));
}

async function recordedArchives(store: AuditStore): Promise<RecordedArchive[]> {
  const records = await store.ofAction(ACTION, CONSIDERED);
  return records.flatMap((record) => archiveIn(record) ?? []);
}

/**
 * The archive after which the log in the database begins. Its record must have a valid seal of its own. Anyone who can
 * write to the database can add a record without a seal, or with a seal of an unknown key, to hide that the beginning
 * of the log was removed.
 * @param first the first entry of the log
 * @param sealer undefined to check only the hash of the record
 * @returns undefined if the log is complete; a break if no genuine archive ends directly before `first`
 */
export async function archiveBefore(
  first: Entry,
  store: AuditStore,
  sealer: Sealer | undefined,
): Promise<RecordedArchive | Break | undefined> {
  if (isFirstOfAll(first)) return undefined;
  let reason = 'it is not the first entry of the log, and the log records no archive that ends before it';
  for (const archive of await recordedArchives(store)) {
    if (!followsDay(first, archive.head)) continue;
    const doubt = doubtOf(archive, sealer);
    if (doubt === undefined) return archive;
    reason = doubt;
  }
  return { at: placeText(first), reason };
}

/** Why the record does not prove its archive; undefined if it does. */
function doubtOf({ record }: RecordedArchive, sealer: Sealer | undefined): string | undefined {
  const at = `the record of the archive before it, ${placeText(record)},`;
  if (!hasItsHash(record)) return `${at} was altered`;
  if (!sealer) return undefined;
  const verdict = record.seal ? sealer.judge(record.seal, record.hash) : 'unsealed';
  switch (verdict) {
    case 'valid':
      return undefined;
    case 'forged':
      return `${at} is not the entry that was sealed`;
    case 'unsealed':
      return `${at} has no seal`;
    case 'unknown-key':
      return (
        `${at} is sealed with key ${record.seal!.keyId}: set SECRETS_KEY or SECRETS_KEY_PREVIOUS to that key, ` +
        'and run npm run secrets:re-encrypt before the key is destroyed'
      );
  }
}

function archiveIn(record: SealedEntry): RecordedArchive | undefined {
  if (!record.target.startsWith(TARGET) || record.after === null) return undefined;
  const after = JSON.parse(record.after) as Record<string, unknown> | null;
  const { head: text, lastSeal, entries, sha256 } = after ?? {};
  const head = typeof text === 'string' ? parseHead(text) : undefined;
  if (!head || typeof lastSeal !== 'number' || typeof entries !== 'number' || typeof sha256 !== 'string')
    return undefined;
  return { partition: record.target.slice(TARGET.length), head, lastSeal, entries, sha256, record };
}

type ArchiveVerdict =
  | {
      readonly kind: 'holds';
      /** The last file. */
      readonly archive: Archive;
      /** The entry of the log that records the last file; absent if the log has no such entry. */
      readonly record?: EntryPlace;
      readonly days: number;
      readonly entries: number;
      /** Absent if the seals were not verified. */
      readonly seals?: SealCount;
    }
  | ({ readonly kind: 'broken'; readonly path: string } & Break);

/** Valid so far: only the last entry of the last file is not authenticated yet. */
interface Followed {
  readonly kind: 'followed';
  /** The last file. */
  readonly archive: Archive;
  readonly chain: Chain;
  readonly seals: SealCheck | undefined;
}

type Broken = Extract<ArchiveVerdict, { kind: 'broken' }>;

/**
 * Verifies archives. The chain in the files must be unbroken. The seals in the files must be valid and equal to those
 * in the database. A valid seal or the log's record of the last file must authenticate the last entry of that file.
 * Verify the log itself first.
 * @param paths consecutive archives, oldest first, one or more
 * @param sealer undefined to verify no seals: they are then only compared with those in the database
 * @throws Error if a file cannot be read or is not an archive
 */
export async function proveArchives(
  database: Database,
  paths: readonly string[],
  sealer: Sealer | undefined,
): Promise<ArchiveVerdict> {
  const followed = await followArchives(database, paths, sealer);
  if (followed.kind === 'broken') return followed;
  const { archive, chain, seals } = followed;
  const records = await genuineArchives(new AuditStore(database), sealer);
  const recorded = records.find(({ partition }) => partition === archive.partition);
  const found = recorded ? differenceOf(archive, recorded) : uncoveredEnd(archive, seals);
  if (found) return { kind: 'broken', path: paths.at(-1)!, ...found };
  return {
    kind: 'holds',
    archive,
    days: chain.days,
    entries: chain.entries,
    ...(recorded && { record: recorded.record }),
    ...(seals && { seals: seals.count }),
  };
}

/** @throws Error as `proveArchives` */
export async function followArchives(
  database: Database,
  paths: readonly string[],
  sealer: Sealer | undefined,
): Promise<Followed | Broken> {
  const store = new AuditStore(database);
  const start = await readHeader(paths[0]!);
  const chain = new Chain(start.follows);
  const seals = sealer && new SealCheck(sealer, undefined, start.lastSeal);
  let { lastSeal } = start;
  let archive: Archive | undefined;
  for (const path of paths) {
    const { partition, follows } = await readHeader(path);
    const broken = (at: string, reason: string): Broken => ({ kind: 'broken', path, at, reason });
    if (archive && (!follows || headText(follows) !== headText(archive.head)))
      return broken(partition, 'it does not continue the file before it');
    const before = chain.entries;
    for await (const page of pagesOf(entriesIn(path))) {
      const found = await follow(page, store, chain, seals);
      if (found) return broken(found.at, found.reason);
      lastSeal = page.findLast(({ seal }) => seal)?.seal?.number ?? lastSeal;
    }
    const entries = chain.entries - before;
    if (entries === 0) return broken(partition, 'it has no entries');
    archive = { partition, head: chain.last!, lastSeal, entries, sha256: await sha256Of(path) };
  }
  return { kind: 'followed', archive: archive!, chain, seals };
}

async function follow(
  page: readonly SealedEntry[],
  store: AuditStore,
  chain: Chain,
  seals: SealCheck | undefined,
): Promise<Break | undefined> {
  const kept = new Map((await store.sealsAt(page)).map((seal) => [placeText(seal), seal]));
  for (const entry of page) {
    const seal = kept.get(placeText(entry));
    if (seal?.mac !== entry.seal?.mac || seal?.number !== entry.seal?.number)
      return { at: placeText(entry), reason: 'its seal in the file is not the one in the database' };
    const broken = chain.follow(entry) ?? seals?.follow(entry);
    if (broken) return broken;
  }
  return undefined;
}

function differenceOf(
  { head, sha256 }: Archive,
  { record, ...recorded }: RecordedArchive,
): Break | undefined {
  if (headText(head) === headText(recorded.head) && sha256 === recorded.sha256) return undefined;
  const reason = `the log records another file at ${placeText(record)}: that file ends with ${placeText(recorded.head)}`;
  return { at: placeText(head), reason };
}

function uncoveredEnd({ head }: Archive, seals: SealCheck | undefined): Break | undefined {
  const broken = seals?.end();
  if (broken) return broken;
  if (seals?.count.notYetSealed === 0) return undefined;
  const seal = seals ? 'no valid seal covers it' : 'its seal was not verified';
  return { at: placeText(head), reason: `${seal}, and the log has no record of this file` };
}
