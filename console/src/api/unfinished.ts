/** An adjustment that was sent, and whose outcome is not known. It has no secret, so it may be kept in the tab's storage. */
export interface Unfinished {
  readonly adjustmentId: string;
  readonly direction: 'credit' | 'debit';
  /** As it was typed, in major units. */
  readonly amount: string;
  readonly currency: string;
  readonly reason: string;
}

/** One adjustment of a player, by operator and player; the newest is the last. */
type Entries = readonly (readonly [player: string, kept: Unfinished])[];

const KEPT = 'croupier-console-adjustments';
/** Players of whom an adjustment is kept: the oldest is forgotten first. */
const MOST = 50;

const playerKey = (operatorId: string, playerRef: string) => JSON.stringify([operatorId, playerRef]);

/** The player's adjustment whose outcome is not known, if there is one. */
export function unfinishedOf(operatorId: string, playerRef: string): Unfinished | undefined {
  const player = playerKey(operatorId, playerRef);
  return read().find(([key]) => key === player)?.[1];
}

/** Keeps an adjustment, so that neither a reload nor another page gives it another id. */
export function keepUnfinished(operatorId: string, playerRef: string, sent: Unfinished): void {
  const player = playerKey(operatorId, playerRef);
  write([...read().filter(([key]) => key !== player), [player, sent]]);
}

/** Forgets the player's adjustment, unless it has another id by now. */
export function forgetUnfinished(operatorId: string, playerRef: string, adjustmentId: string): void {
  const player = playerKey(operatorId, playerRef);
  write(read().filter(([key, kept]) => key !== player || kept.adjustmentId !== adjustmentId));
}

export function forgetAllUnfinished(): void {
  sessionStorage.removeItem(KEPT);
}

function read(): Entries {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(KEPT) ?? '[]');
    return Array.isArray(kept) ? (kept as Entries) : [];
  } catch {
    return [];
  }
}

function write(entries: Entries): void {
  if (entries.length === 0) sessionStorage.removeItem(KEPT);
  else sessionStorage.setItem(KEPT, JSON.stringify(entries.slice(-MOST)));
}
