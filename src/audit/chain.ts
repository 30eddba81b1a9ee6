import { createHash } from 'node:crypto';
import { type Entry, placeText, type Witness } from './entry.js';

/** The audit log, or an archive of it, is broken. The message has the place and the reason. */
export class BrokenAuditError extends Error {
  /** The file of the archive that is broken; undefined if it is the log in the database. */
  path: string | undefined;

  /**
   * @param at `<day>/<position>` of the first entry that is wrong, missing or superfluous; the partition's name if an
   *   archive as a whole is wrong
   */
  constructor(at: string, reason: string) {
    super(`${at}: ${reason}`);
  }
}

/** The `previousHash` of the log's first entry. */
const BEGINNING = digest('croupier audit', 'beginning');

/** Computes each hash as the database's trigger does. It needs no key: a copy of the table suffices. */
export class Chain {
  /** The last valid entry. */
  last: Witness | undefined;
  days = 0;
  entries = 0;

  /** @param after the entry before the first one to verify; undefined to begin at the log's first entry */
  constructor(after?: Witness) {
    this.last = after;
  }

  /**
   * Verifies the next entry, in the order of day and position.
   * @throws BrokenAuditError if the entry is not valid
   */
  follow(entry: Entry): void {
    const sameDay = this.last?.day === entry.day;
    const position = sameDay ? this.last!.position + 1 : 1;
    const at = placeText(entry);
    if (entry.position !== position)
      throw new BrokenAuditError(placeText({ day: entry.day, position }), 'it is missing, or was moved');
    if (entry.previousHash !== this.expected(sameDay)) {
      const reason = sameDay
        ? 'it does not follow the entry before it'
        : this.last
          ? `it does not have the digest of ${this.last.day}: that day was altered or moved`
          : 'it is not the first entry of the log';
      throw new BrokenAuditError(at, reason);
    }
    if (!hasItsHash(entry)) throw new BrokenAuditError(at, 'its content does not match its hash');
    this.last = { day: entry.day, position: entry.position, hash: entry.hash };
    this.entries += 1;
    if (!sameDay) this.days += 1;
  }

  private expected(sameDay: boolean): string {
    if (!this.last) return BEGINNING;
    return sameDay ? this.last.hash : dayDigestOf(this.last);
  }
}

export function isFirstOfAll({ previousHash }: Entry): boolean {
  return previousHash === BEGINNING;
}

/** Whether the entry, the first of its day, continues the chain of the day whose last entry is `last`. */
export function followsDay({ previousHash }: Entry, last: Witness): boolean {
  return previousHash === dayDigestOf(last);
}

export function hasItsHash(entry: Entry): boolean {
  return entry.hash === hashOf(entry);
}

/** Digest of a day's date, number of entries and last hash. It is the `previousHash` of the next day's first entry. */
function dayDigestOf({ day, position, hash }: Witness): string {
  return digest('croupier audit', 'day', day, String(position), hash);
}

function hashOf(entry: Entry): string {
  const { previousHash, day, position, createdAt, actor, role, action, target } = entry;
  const { before, after, address, requestId, actorName, outcome } = entry;
  return digest(
    'croupier audit',
    // Entries of earlier versions have no outcome and were hashed without one.
    outcome === null ? 'entry' : 'entry with outcome',
    previousHash,
    day,
    String(position),
    createdAt.toISOString(),
    actor,
    role,
    action,
    target,
    before,
    after,
    address,
    requestId,
    ...(outcome === null ? [] : [actorName, outcome]),
  );
}

function digest(...fields: readonly (string | null)[]): string {
  return createHash('sha256').update(lengthPrefixed(fields)).digest('hex');
}

/**
 * Writes each field as its length in bytes, a colon and its value, or as a hyphen if it is null. Therefore different
 * lists give different texts.
 */
export function lengthPrefixed(fields: readonly (string | null)[]): string {
  return fields.map((field) => (field === null ? '-' : `${Buffer.byteLength(field)}:${field}`)).join('\n');
}
