import type { ErrorCode } from '../errors/catalogue.js';

/**
 * An action of an actor, done or refused. `before` and `after` show the target as the API returns it, never with a
 * secret, token or key.
 */
export interface NewEntry {
  /** `<noun>.<verb>`, such as `provider.change`. */
  readonly action: string;
  /** `<noun>:<id>`, such as `provider:acme-games`, or only a noun, such as `keys`. */
  readonly target: string;
  readonly before?: object;
  /** The target after the change; for a read, the request's parameters; for a refusal, its message. */
  readonly after?: object;
  /** The error code of a refusal; `done` by default. */
  readonly outcome?: ErrorCode;
}

/** The place and hash of an entry, with which it can be proved later that nothing up to this entry was altered. */
export interface Witness {
  /** A day in UTC, `YYYY-MM-DD`. */
  readonly day: string;
  /** Numbered from 1 without gaps within its day. */
  readonly position: number;
  /** SHA-256 over the entry and the hash before it, 64 lower-case hex digits. */
  readonly hash: string;
}

/** Authenticates one entry, and by the chain all entries before it. */
export interface Seal {
  /** Numbered from 1 without gaps. */
  readonly number: number;
  /** The entry that it seals. */
  readonly day: string;
  readonly position: number;
  /** Identifies the key that made it. */
  readonly keyId: string;
  /** HMAC-SHA256, 64 lower-case hex digits. */
  readonly mac: string;
}

/** A stored entry; `before` and `after` are the text that was hashed. */
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
  /** Null for operators and commands. Like `outcome`, it is null in entries of earlier versions. */
  readonly actorName: string | null;
  /** `done` or an error code. */
  readonly outcome: string | null;
  /** The hash of the entry before it; for the first entry of a day, the digest of the day before. */
  readonly previousHash: string;
}

/** A stored entry and its own seal. `seal` is null if the entry has none; the seal of a later entry may cover it. */
export interface SealedEntry extends Entry {
  readonly seal: Seal | null;
}
