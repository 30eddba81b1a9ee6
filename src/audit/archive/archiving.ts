import { join } from 'node:path';
import type { Database } from '../../database/database.js';
import { detachPartition, type Partition, partitionsUntil } from '../../database/partitions.js';
import { type Archive, followArchives, genuineArchives, proveArchives } from './archive.js';
import { writeArchive } from './archive-file.js';
import { AuditStore } from '../audit.store.js';
import { BrokenAuditError } from '../chain.js';
import type { SealedEntry } from '../entry.js';
import type { Sealer } from '../sealer.js';

/**
 * The partitions of the log that end before a month begins and get no more entries, oldest first.
 * @param month `YYYY-MM`
 */
export async function endedPartitions(database: Database, month: string): Promise<Partition[]> {
  const [first, next] = [`${month}-01`, await new AuditStore(database).nextDay()];
  return partitionsUntil(database, 'audit_entries', first < next ? first : next);
}

/**
 * Copies a partition of the log with its seals to a file and verifies the file. Verify the log and archive all earlier
 * partitions first.
 * @param folder where the file goes, as `<partition>.jsonl`
 * @returns undefined if the partition is empty, or the log records its archive already
 * @throws Error if the file cannot be written or is not valid
 */
export async function copyPartition(
  database: Database,
  sealer: Sealer,
  partition: Partition,
  folder: string,
): Promise<{ readonly path: string; readonly archive: Archive } | undefined> {
  const store = new AuditStore(database);
  const archives = await genuineArchives(store, sealer);
  if (archives.some((archive) => archive.partition === partition.name)) return undefined;
  const before = archives.find(({ head }) => head.day < partition.end);
  const [first] = await store.following(before?.head, 1);
  if (!first || first.day >= partition.end) return undefined;
  const path = join(folder, `${partition.name}.jsonl`);
  const header = { partition: partition.name, follows: before?.head, lastSeal: before?.lastSeal ?? 0 };
  const pages = store.pages(before?.head, partition.end);
  const { files } = await writeArchive(path, header, pages, (written) =>
    followArchives(database, [written], sealer).catch(refuseFile),
  );
  return { path, archive: files[0]!.archive };
}

function refuseFile(error: unknown): never {
  if (error instanceof BrokenAuditError) throw new Error(`the file is not valid at ${error.message}`);
  throw error;
}

/**
 * The genuine archives that have to be recorded again, because the log would otherwise lose the last record with which
 * `proveArchives` can verify them. Verify the log first.
 * @param willBeLost whether the record is about to be archived, or its seal's key about to be destroyed
 */
export async function archivesToRestate(
  database: Database,
  sealer: Sealer,
  willBeLost: (record: SealedEntry) => boolean,
): Promise<Archive[]> {
  const archives = await genuineArchives(new AuditStore(database), sealer);
  const kept = new Set(
    archives.filter(({ record }) => !willBeLost(record)).map(({ partition }) => partition),
  );
  const byPartition = new Map(archives.map((archive) => [archive.partition, archive]));
  return [...byPartition.values()].filter(({ partition }) => !kept.has(partition));
}

/**
 * Detaches an archived partition. The partition must be the oldest one with entries, and have exactly the entries of
 * the file. The log must record the file.
 * @param sealer undefined to trust the record in the log without its seal, for an owner who does not have the key
 * @returns the name of the table that the partition has become
 * @throws Error if the file does not prove the partition; nothing is detached then
 */
export async function detachArchived(
  database: Database,
  sealer: Sealer | undefined,
  path: string,
): Promise<string> {
  const { archive } = await proveArchives(database, [path], sealer).catch(refuseFile);
  const { partition, head, entries } = archive;
  const store = new AuditStore(database);
  const oldest = await store.oldestPartition();
  const ended = await partitionsUntil(database, 'audit_entries', await store.nextDay());
  const found = ended.find(({ name }) => name === partition);
  if (oldest !== partition)
    throw new Error(`${partition} is not the oldest partition with entries; that is ${oldest ?? 'none'}`);
  if (!found) throw new Error(`${partition} may still get entries`);
  const stored = await store.entriesBefore(found.end, head);
  if (stored.entries !== entries || !stored.endsWithHead)
    throw new Error(`${partition} does not have exactly the entries of the file`);
  await detachPartition(database, 'audit_entries', found);
  return partition;
}
