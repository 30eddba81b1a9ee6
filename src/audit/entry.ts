import type { ErrorCode } from '../errors/catalogue.js';

/**
 * An action that an actor took or was refused. `before` and `after` show the target as the API returns it, and must not
 * contain a secret, token or key.
 */
export interface NewEntry {
  /** `<noun>.<verb>`, such as `provider.change`. */
  readonly action: string;
  /** `<noun>:<id>`, such as `provider:acme-games`, or only a noun, such as `keys`. */
  readonly target: string;
  readonly before?: object;
  /** The target after the change; for a read, the request's parameters; for a refusal, its message. */
  readonly after?: object;
  /** The error code of a refusal; absent if the action was done. */
  readonly outcome?: ErrorCode;
}

export interface EntryPlace {
  /** A day in UTC, `YYYY-MM-DD`. */
  readonly day: string;
  /** Numbered from 1 without gaps within its day. */
  readonly position: number;
}

/** The place and hash of an entry. Kept elsewhere, they later reveal whether an entry up to this one was altered. */
export interface Witness extends EntryPlace {
  /** SHA-256 over the entry's fields and `previousHash`, 64 lower-case hex digits. */
  readonly hash: string;
}

/** Authenticates the entry at its place and, through the chain of hashes, all entries before it. */
export interface Seal extends EntryPlace {
  /** Numbered from 1 without gaps. */
  readonly number: number;
  /** Identifies the key with which `mac` was computed. */
  readonly keyId: string;
  /** HMAC-SHA256, 64 lower-case hex digits. */
  readonly mac: string;
}

/** A stored entry; `before` and `after` are JSON text, exactly as it was hashed. */
export interface Entry extends Witness {
  readonly createdAt: Date;
  readonly actor: string;
  readonly role: string;
  readonly action: string;
  readonly target: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly address: string | null;
  readonly requestId: string | null;
  /** Null for operators and commands. In entries of earlier versions, this field and `outcome` are null. */
  readonly actorName: string | null;
  /** `done` or an error code. */
  readonly outcome: string | null;
  /** The hash of the previous entry; for the first entry of a day, the digest of the previous day with entries. */
  readonly previousHash: string;
}

/** A stored entry and its own seal. `seal` is null if the entry has none; the seal of a later entry may cover it. */
export interface SealedEntry extends Entry {
  readonly seal: Seal | null;
}

/** For a target, the newest entry that is sealed with a given key and whose `after` has a given field. */
export interface TargetEntry extends EntryPlace {
  readonly target: string;
  readonly after: Readonly<Record<string, unknown>>;
  /** The key of the entry's seal. */
  readonly keyId: string;
}

export function placeText({ day, position }: EntryPlace): string {
  return `${day}/${position}`;
}

const HEAD = /^(\d{4}-\d{2}-\d{2})\/([1-9]\d{0,8})\/([0-9a-f]{64})$/;

/** The text form of a head, `DAY/POSITION/HASH`, in command output and in `AUDIT_HEAD_FILE`. */
export function headText({ day, position, hash }: Witness): string {
  return `${day}/${position}/${hash}`;
}

/** @returns undefined if the text is not a head */
export function parseHead(text: string): Witness | undefined {
  const [, day, position, hash] = HEAD.exec(text) ?? [];
  if (day === undefined || position === undefined || hash === undefined) return undefined;
  return { day, position: Number(position), hash };
}
