import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseJsonObject } from '../../api/validation/json.js';
import { syncFolder } from '../../runtime/sync-folder.js';
import { unfinishedPath } from '../../runtime/unfinished-path.js';
import { headText, parseHead, type Seal, type SealedEntry, type Witness } from '../entry.js';

const FORMAT = 'croupier audit archive 1';
/** Only the owner may read a file that names players and administrators. */
const MODE = 0o600;

/** The first line of an archive: its partition, and what precedes its entries in the log. */
interface ArchiveHeader {
  readonly partition: string;
  /** The entry before the archive's first entry; undefined if the archive begins with the first entry of the log. */
  readonly follows: Witness | undefined;
  /** The number of the newest seal before the first entry; 0 if there is none. */
  readonly lastSeal: number;
}

/**
 * Writes an archive as JSON lines: first the header, then each entry with its seal. `before` and `after` are written as
 * strings, so that they stay exactly the text that was hashed. The file gets its name only when it is complete, flushed
 * to the disk and verified.
 * @param check verifies the complete file
 * @returns the result of `check`
 * @throws Error if the file cannot be written, or what `check` throws; the file that this call began is then removed
 */
export async function writeArchive<T>(
  path: string,
  { partition, follows, lastSeal }: ArchiveHeader,
  pages: AsyncIterable<readonly SealedEntry[]>,
  check: (path: string) => Promise<T>,
): Promise<T> {
  // A name of its own, because another run may be writing the same archive, or may have left its file after a crash.
  const unfinished = unfinishedPath(path);
  const file = await open(unfinished, 'wx', MODE);
  try {
    try {
      const header = { format: FORMAT, partition, follows: follows ? headText(follows) : null, lastSeal };
      await file.appendFile(line(header));
      for await (const page of pages) await file.appendFile(page.map(line).join(''));
      await file.sync();
    } finally {
      await file.close();
    }
    const result = await check(unfinished);
    await rename(unfinished, path);
    await syncFolder(dirname(path));
    return result;
  } catch (error) {
    await unlink(unfinished).catch(() => undefined);
    throw error;
  }
}

/** @throws Error if the file cannot be read or is not an archive */
export async function readHeader(path: string): Promise<ArchiveHeader> {
  for await (const [, value] of linesOf(path)) {
    const { format, partition, follows, lastSeal } = value;
    const after = typeof follows === 'string' ? parseHead(follows) : undefined;
    const known = format === FORMAT && typeof partition === 'string' && Number.isSafeInteger(lastSeal);
    if (!known || (follows !== null && !after)) break;
    return { partition, follows: after, lastSeal: lastSeal as number };
  }
  throw new Error(`${path}: it is not an archive of the audit log`);
}

/** @throws Error if the file cannot be read, or a line is not an entry */
export async function* entriesIn(path: string): AsyncGenerator<SealedEntry> {
  for await (const [number, value] of linesOf(path)) {
    if (number === 1) continue;
    const entry = entryIn(value);
    if (!entry) throw new Error(`${path}: line ${number} is not an entry of the audit log`);
    yield entry;
  }
}

/** @throws Error if the file cannot be read */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

async function* linesOf(path: string): AsyncGenerator<[number: number, Readonly<Record<string, unknown>>]> {
  const file = await open(path);
  try {
    let number = 0;
    for await (const text of file.readLines()) {
      number += 1;
      yield [number, parseJsonObject(Buffer.from(text)) ?? {}];
    }
  } finally {
    await file.close();
  }
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

const TEXTS = ['day', 'hash', 'previousHash', 'actor', 'role', 'action', 'target'] as const;
const NULLABLE_TEXTS = ['before', 'after', 'address', 'requestId', 'actorName', 'outcome'] as const;

function entryIn(value: Readonly<Record<string, unknown>>): SealedEntry | undefined {
  const createdAt = new Date(String(value['createdAt']));
  const seal = value['seal'] === null ? null : sealIn(Object(value['seal']) as Record<string, unknown>);
  const known =
    TEXTS.every((name) => typeof value[name] === 'string') &&
    NULLABLE_TEXTS.every((name) => value[name] === null || typeof value[name] === 'string') &&
    Number.isSafeInteger(value['position']) &&
    !Number.isNaN(createdAt.getTime()) &&
    seal !== undefined;
  return known ? ({ ...value, createdAt, seal } as SealedEntry) : undefined;
}

function sealIn({ number, day, position, keyId, mac }: Record<string, unknown>): Seal | undefined {
  const known =
    Number.isSafeInteger(number) &&
    Number.isSafeInteger(position) &&
    typeof day === 'string' &&
    typeof keyId === 'string' &&
    typeof mac === 'string' &&
    /^[0-9a-f]{64}$/.test(mac);
  return known ? ({ number, day, position, keyId, mac } as Seal) : undefined;
}
