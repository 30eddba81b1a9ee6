import type { Database } from '../../database/database.js';
import { type Archive, genuineArchives, type RecordedArchive } from './archive.js';
import { entriesIn, readHeader, sha256Of } from './archive-file.js';
import { AuditStore } from '../audit.store.js';
import { type Break, Chain } from '../chain.js';
import { type EntryPlace, headText, placeText, type SealedEntry } from '../entry.js';
import { pagesOf } from '../pages.js';
import type { Sealer } from '../sealer.js';
import { type SealCount, SealCheck } from '../seal-check.js';

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

/**
 * Consecutive archives whose entries and seals are valid. The last entry of the last file is not authenticated yet:
 * `proveArchives` authenticates it with a valid seal or with the log's record of that file.
 */
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

/**
 * Verifies the chain and the seals of consecutive archives.
 * @throws Error as `proveArchives`
 */
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
