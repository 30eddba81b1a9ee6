import type { AuditStore } from '../audit.store.js';
import { type Break, followsDay, hasItsHash, isFirstOfAll } from '../chain.js';
import {
  type Entry,
  headText,
  type NewEntry,
  parseHead,
  placeText,
  type SealedEntry,
  type Witness,
} from '../entry.js';
import type { Sealer } from '../sealer.js';

const ACTION = 'audit.archive';
const TARGET = 'archive:';
/**
 * Maximum number of records of archives that are read, newest first. Verification needs only the record of the archive
 * that ends where the log in the database begins.
 */
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

/** An archive, and the entry of the log that records it. */
export interface RecordedArchive extends Archive {
  readonly record: SealedEntry;
}

/** The audit entry that records an archive. */
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
