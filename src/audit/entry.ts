import type { ErrorCode } from '../errors/catalogue.js';

/** What an actor did, or was refused. `before` and `after` are the target as a reader may see it: never a secret, token or key. */
export interface Deed {
  /** `<room's noun>.<verb>`, such as `provider.change`. */
  readonly action: string;
  /** `<noun>:<id>`, such as `provider:acme-games`. */
  readonly target: string;
  readonly before?: object;
  /** The target afterwards; of a read, what was asked for; of a refusal, its message. */
  readonly after?: object;
  /** The error code of what was refused; `done` by default. */
  readonly outcome?: ErrorCode;
}

/** Where an entry stands: who knows this of one entry can prove later that nothing up to it was altered. */
export interface Witness {
  /** A day in UTC, `YYYY-MM-DD`. */
  readonly day: string;
  /** From 1 on, without a gap, within its day. */
  readonly position: number;
  /** SHA-256 over the entry and the hash before it, 64 lower-case hex digits. */
  readonly hash: string;
}

/** Authenticates one entry, and by the chain all entries before it. */
export interface Seal {
  /** From 1 on, without a gap. */
  readonly number: number;
  /** The entry that it seals. */
  readonly day: string;
  readonly position: number;
  /** Which key made it. */
  readonly keyId: string;
  /** HMAC-SHA256, 64 lower-case hex digits. */
  readonly mac: string;
}

/** One line of the log, as it is stored: `before` and `after` as the very text that was hashed. */
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
  /** Null for operators and commands, and in entries of earlier versions, as their `outcome`. */
  readonly actorName: string | null;
  /** `done` or an error code. */
  readonly outcome: string | null;
  /** The hash before it; of a day's first entry, the seal of the day before. */
  readonly previousHash: string;
}

/** An entry beside its seal; null if the entry has none of its own. */
export interface SealedEntry extends Entry {
  readonly seal: Seal | null;
}
