/** The platform's calls to a provider and their answers. */

import { CONTROLS } from './visible.js';

/** The path of each callback below the webhook base address. All are POST. */
export const CALLBACK_ROUTES = {
  grant: '/v1/game/free-spins/grant',
  status: '/v1/game/free-spins/status',
  cancel: '/v1/game/free-spins/cancel',
  revoke: '/v1/game/session/revoke',
} as const;

export type CallbackName = keyof typeof CALLBACK_ROUTES;

/**
 * The end of the path at which a test environment plays one spin of a batch. Calls are POSTs, signed like callbacks.
 * `npx @croupier/cli certify --play-path` makes them; the platform never does.
 */
export const PLAY_ROUTE = '/v1/test/free-spins/play';

/**
 * Free spins for one player, which you book as a batch. The same requestRef may arrive again and means the same batch.
 */
export interface Grant {
  requestRef: string;
  playerRef: string;
  gameId: string;
  /** A whole number of at least 1. */
  spins: number;
  /** Minor units; 0 means your default stake. */
  betAmountMinor: number;
  /** ISO 4217, three upper-case letters. */
  currency: string;
}

/** Identifies a batch by the externalRef with which you answered its grant. */
export interface BatchReference {
  externalRef: string;
  playerRef: string;
  gameId: string;
}

export interface BatchStatus {
  /** A whole number of at least 0. */
  remainingSpins: number;
  /** Whether the batch is over, for example after its last spin. */
  completed: boolean;
}

export interface Revocation {
  revocationRef: string;
  sessionId: string;
  playerRef: string;
  gameId: string;
  /** `KICK`, `SELF_EXCLUSION`, `FRAUD_HOLD`, `OTHER`, or a later addition. */
  reason: string;
  /** ISO 8601, UTC. */
  revokedAt: string;
}

/** A callback, or the call that plays one spin in a test environment. */
export type CallName = CallbackName | 'play';

/**
 * The grammar of an `externalRef`, which winnings name as `freeSpinsRef`: 1 to 256 characters (code points) without
 * control characters, line separators, bidirectional controls and lone surrogates. The platform repeats it.
 */
const EXTERNAL_REF = new RegExp(`^[^${CONTROLS}\\p{Cs}]{1,256}$`, 'u');

export const EXTERNAL_REF_WORDS =
  '1 to 256 characters without control characters, line separators, bidirectional controls and lone surrogates';

/** Whether the platform accepts this value as the `externalRef` of a grant. */
export function isExternalRef(value: unknown): value is string {
  return typeof value === 'string' && EXTERNAL_REF.test(value);
}

/** The fields of each call, in the order in which they are checked. A check returns what is wrong, or undefined. */
const FIELDS: Record<CallName, Record<string, (value: unknown) => string | undefined>> = {
  grant: {
    requestRef: text,
    playerRef: text,
    gameId: text,
    spins: whole(1),
    betAmountMinor: whole(0),
    currency: (value) =>
      typeof value === 'string' && /^[A-Z]{3}$/.test(value) ? undefined : 'must be three upper-case letters',
  },
  status: { externalRef: text, playerRef: text, gameId: text },
  play: { externalRef: text, playerRef: text, gameId: text },
  cancel: { externalRef: text, playerRef: text, gameId: text },
  revoke: {
    revocationRef: text,
    sessionId: text,
    playerRef: text,
    gameId: text,
    reason: text,
    revokedAt: text,
  },
};

/** Returns the known fields of a body, or a sentence that says why the body is invalid. */
export function readCallback(name: CallName, rawBody: string): Record<string, unknown> | string {
  let body: unknown;
  try {
    body = JSON.parse(rawBody.replace(/^\ufeff/, ''));
  } catch {
    return 'the body is not JSON';
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return 'the body is not a JSON object';
  const known: Record<string, unknown> = {};
  for (const [field, check] of Object.entries(FIELDS[name])) {
    const value = (body as Record<string, unknown>)[field];
    const complaint = check(value);
    if (complaint !== undefined) return `${field} ${complaint}`;
    known[field] = value;
  }
  return known;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? undefined : 'must be a non-empty string';
}

function whole(least: number): (value: unknown) => string | undefined {
  return (value) =>
    Number.isSafeInteger(value) && (value as number) >= least
      ? undefined
      : `must be a whole number of at least ${least}`;
}
