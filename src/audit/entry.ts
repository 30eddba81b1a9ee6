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

/** The place and hash of an entry. Kept elsewhere, they later reveal whether an entry up to this one was altered. */
export interface Witness {
  /** A day in UTC, `YYYY-MM-DD`. */
  readonly day: string;
  /** Numbered from 1 without gaps within its day. */
  readonly position: number;
  /** SHA-256 over the entry's fields and `previousHash`, 64 lower-case hex digits. */
  readonly hash: string;
}

/** Authenticates an entry and, through the chain of hashes, all entries before it. */
export interface Seal {
  /** Numbered from 1 without gaps. */
  readonly number: number;
  /** Day and position of the sealed entry. */
  readonly day: string;
  readonly position: number;
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
export interface TargetEntry {
  readonly day: string;
  readonly position: number;
  readonly target: string;
  readonly after: Readonly<Record<string, unknown>>;
  /** The key of the entry's seal. */
  readonly keyId: string;
}
