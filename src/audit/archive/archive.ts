import type { Database } from '../../database/database.js';
import { AuditStore, pagesOf } from '../audit.store.js';
import { BrokenAuditError, Chain, followsDay, hasItsHash, isFirstOfAll } from '../chain.js';
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
import { SealCheck, type Sealer } from '../sealer.js';
import { entriesIn, readHeader, sha256Of } from './archive-file.js';

const ACTION = 'audit.archive';
const TARGET = 'archive:';
/** Maximum number of records of archives that are read, the newest first: more than a log of eighty years has. */
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
 * @returns undefined if the log is complete
 * @throws BrokenAuditError if no genuine archive ends directly before `first`
 */
export async function archiveBefore(
  first: Entry,
  store: AuditStore,
  sealer: Sealer | undefined,
): Promise<RecordedArchive | undefined> {
  if (isFirstOfAll(first)) return undefined;
  let reason = 'it is not the first entry of the log, and the log records no archive that ends before it';
  for (const archive of await recordedArchives(store)) {
    if (!followsDay(first, archive.head)) continue;
    const doubt = doubtOf(archive, sealer);
    if (doubt === undefined) return archive;
    reason = doubt;
  }
  throw new BrokenAuditError(placeText(first), reason);
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

/** A file whose own chain and seals are valid. Nothing yet proves that it is complete. */
interface FollowedFile {
  readonly path: string;
  readonly archive: Archive;
  /** The entries of the file that record earlier archives. */
  readonly records: readonly SealedEntry[];
}

interface FollowedArchives {
  /** As their paths, oldest first. */
  readonly files: readonly FollowedFile[];
  readonly chain: Chain;
  /** Undefined if the seals were not verified. */
  readonly seals: SealCheck | undefined;
}

interface ProvenArchives {
  /** The last file. */
  readonly archive: Archive;
  readonly chain: Chain;
  /** Undefined if the seals were not verified. */
  readonly seals: SealCheck | undefined;
  /** The entries that record the files, in the order of the files. */
  readonly records: readonly EntryPlace[];
}

/**
 * Verifies archives. The chain in the files must be unbroken. The seals in the files must be valid and equal to those
 * in the database. Each file must be, byte for byte, one that the log records: only this proves that nothing was cut
 * off its beginning or its end, because the header is not sealed. Verify the log itself first.
 * @param paths consecutive archives, oldest first, one or more
 * @param sealer undefined to verify no seals: they are then only compared with those in the database
 * @throws BrokenAuditError with the path of the broken file
 * @throws Error if a file cannot be read or is not an archive
 */
export async function proveArchives(
  database: Database,
  paths: readonly string[],
  sealer: Sealer | undefined,
): Promise<ProvenArchives> {
  const { files, chain, seals } = await followArchives(database, paths, sealer);
  const records = recordsOf(files, await genuineArchives(new AuditStore(database), sealer));
  return { archive: files.at(-1)!.archive, chain, seals, records };
}

/**
 * Finds the record of each file. A record may itself be archived, so the records in a later file count, too, once that
 * file is proven.
 * @param recorded the archives that the log in the database records
 * @throws BrokenAuditError if a file has no record
 */
function recordsOf(files: readonly FollowedFile[], recorded: readonly RecordedArchive[]): EntryPlace[] {
  const known = new Map(recorded.map(({ sha256, record }) => [sha256, record]));
  const records: EntryPlace[] = [];
  for (const { path, archive, records: earlier } of files.toReversed()) {
    const record = known.get(archive.sha256);
    if (!record) {
      const reason =
        'the log has no record of exactly this file, and neither has a later file that was given';
      return rethrowWithPath(path)(new BrokenAuditError(placeText(archive.head), reason));
    }
    records.unshift(record);
    for (const { sha256, record } of earlier.flatMap((each) => archiveIn(each) ?? []))
      known.set(sha256, record);
  }
  return records;
}

/**
 * Verifies the chain and the seals of archives, but not that the files are complete.
 * @throws Error as `proveArchives`
 */
export async function followArchives(
  database: Database,
  paths: readonly string[],
  sealer: Sealer | undefined,
): Promise<FollowedArchives> {
  const store = new AuditStore(database);
  const start = await readHeader(paths[0]!);
  const chain = new Chain(start.follows);
  const seals = sealer && new SealCheck(sealer, undefined, start.lastSeal);
  const files: FollowedFile[] = [];
  for (const path of paths)
    files.push(await follow(path, files.at(-1)?.archive, store, chain, seals).catch(rethrowWithPath(path)));
  return { files, chain, seals };
}

/** @param before the archive before this one; undefined for the first one */
async function follow(
  path: string,
  before: Archive | undefined,
  store: AuditStore,
  chain: Chain,
  seals: SealCheck | undefined,
): Promise<FollowedFile> {
  const { partition, follows, ...header } = await readHeader(path);
  if (before && (!follows || headText(follows) !== headText(before.head)))
    throw new BrokenAuditError(partition, 'it does not continue the file before it');
  let lastSeal = before?.lastSeal ?? header.lastSeal;
  const entriesBefore = chain.entries;
  const records: SealedEntry[] = [];
  for await (const page of pagesOf(entriesIn(path))) {
    const kept = new Map((await store.sealsAt(page)).map((seal) => [placeText(seal), seal]));
    for (const entry of page) {
      const seal = kept.get(placeText(entry));
      if (seal?.mac !== entry.seal?.mac || seal?.number !== entry.seal?.number)
        throw new BrokenAuditError(placeText(entry), 'its seal in the file is not the one in the database');
      chain.follow(entry);
      seals?.follow(entry);
      lastSeal = seal?.number ?? lastSeal;
      if (entry.action === ACTION) records.push(entry);
    }
  }
  const entries = chain.entries - entriesBefore;
  if (entries === 0) throw new BrokenAuditError(partition, 'it has no entries');
  const archive = { partition, head: chain.last!, lastSeal, entries, sha256: await sha256Of(path) };
  return { path, archive, records };
}

function rethrowWithPath(path: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof BrokenAuditError) error.path = path;
    throw error;
  };
}
