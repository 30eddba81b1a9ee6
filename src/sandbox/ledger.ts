import { type Fields, isCurrency, isText, isWhole } from './fields.js';

const KINDS = ['BET', 'WIN', 'ROLLBACK', 'ADJUSTMENT'] as const;
export type Kind = (typeof KINDS)[number];

/** What an operator is asked to book. Contract, section 4. */
export interface Order {
  readonly providerId: string;
  readonly transactionId: string;
  readonly kind: Kind;
  readonly playerRef: string;
  readonly currency: string;
  /** Minor units; signed for an ADJUSTMENT only. */
  readonly amountMinor: number;
  /** Always there in a ROLLBACK. */
  readonly originalTransactionId?: string;
}

/** One line of the ledger: an order and what became of it. */
export interface LedgerEntry extends Order {
  readonly status: 'APPROVED' | 'DECLINED';
  readonly reason?: string;
  /** What it did to the player's balance, in minor units, signed. */
  readonly movedMinor: number;
  readonly operatorTransactionId: string;
  /** ISO 8601, UTC. */
  readonly bookedAt: string;
}

/** What a player has before the first entry, in minor units. */
export const START_BALANCE_MINOR = 100_000;
/** A player named so may not bet; what is owed to him still settles. */
const BLOCKED_PREFIX = 'blocked-';
/** A player named so has no account. */
const UNKNOWN_PREFIX = 'unknown-';

type Verdict = Pick<LedgerEntry, 'status' | 'movedMinor'> & { readonly reason?: string };

/**
 * An operator's book, in memory. An order is booked once per (providerId, transactionId); a BET is reversed at
 * most once, whatever ids ask for it; a ROLLBACK that comes before its BET leaves a tombstone.
 */
export class Ledger {
  private readonly entriesByKey = new Map<string, LedgerEntry>();
  /** What an approved ROLLBACK has named, booked or not: the reversals and the tombstones. */
  private readonly rolledBack = new Set<string>();
  private readonly movedByAccount = new Map<string, number>();

  /** @param startBalanceMinor what every player has before the first entry */
  constructor(private readonly startBalanceMinor = START_BALANCE_MINOR) {}

  hasAccount(playerRef: string): boolean {
    return !playerRef.startsWith(UNKNOWN_PREFIX);
  }

  /** In minor units. */
  balance(playerRef: string, currency: string): number {
    return this.startBalanceMinor + (this.movedByAccount.get(key(playerRef, currency)) ?? 0);
  }

  find(providerId: string, transactionId: string): LedgerEntry | undefined {
    return this.entriesByKey.get(key(providerId, transactionId));
  }

  /** Everything that was recorded, oldest first. */
  entries(): LedgerEntry[] {
    return [...this.entriesByKey.values()];
  }

  /** True once a ROLLBACK of this id was approved, whether or not anything had been booked under it. */
  isRolledBack(providerId: string, transactionId: string): boolean {
    return this.rolledBack.has(key(providerId, transactionId));
  }

  /** The entry this order comes to, now, if it is recorded. Changes nothing. */
  judge(order: Order, bookedAt: Date): LedgerEntry {
    return {
      ...order,
      ...this.verdict(order),
      operatorTransactionId: `booking-${this.entriesByKey.size + 1}`,
      bookedAt: bookedAt.toISOString(),
    };
  }

  /** Writes one entry down; an id that is there already stays as it is. */
  record(entry: LedgerEntry): void {
    const id = key(entry.providerId, entry.transactionId);
    if (this.entriesByKey.has(id)) return;
    this.entriesByKey.set(id, entry);
    if (entry.status === 'DECLINED') return;
    const account = key(entry.playerRef, entry.currency);
    this.movedByAccount.set(account, (this.movedByAccount.get(account) ?? 0) + entry.movedMinor);
    if (entry.originalTransactionId !== undefined && entry.kind === 'ROLLBACK') {
      this.rolledBack.add(key(entry.providerId, entry.originalTransactionId));
    }
  }

  private verdict(order: Order): Verdict {
    const { providerId, transactionId, kind, amountMinor, playerRef, currency } = order;
    if (kind === 'ROLLBACK') return this.rollback(order);
    if (this.isRolledBack(providerId, transactionId)) return declined('TRANSACTION_ROLLED_BACK');
    if (!this.hasAccount(playerRef)) return declined('PLAYER_UNKNOWN');
    if (kind !== 'BET') return this.moved(order, amountMinor);
    if (playerRef.startsWith(BLOCKED_PREFIX)) return declined('PLAYER_BLOCKED');
    if (this.balance(playerRef, currency) < amountMinor) return declined('INSUFFICIENT_FUNDS');
    return this.moved(order, -amountMinor);
  }

  private rollback(order: Order): Verdict {
    const { providerId, originalTransactionId = '', playerRef, currency } = order;
    const target = this.find(providerId, originalTransactionId);
    if (!target) return this.moved(order, 0);
    const sameAccount = target.playerRef === playerRef && target.currency === currency;
    if (target.kind !== 'BET' || !sameAccount) return declined('NOT_ROLLBACKABLE');
    return this.moved(order, this.isRolledBack(providerId, originalTransactionId) ? 0 : -target.movedMinor);
  }

  private moved(order: Order, movedMinor: number): Verdict {
    const balance = this.balance(order.playerRef, order.currency) + movedMinor;
    if (!Number.isSafeInteger(balance)) return declined('LIMIT_REACHED');
    // A reversal of nothing computes to -0, which is not what a reader of the ledger expects.
    return { status: 'APPROVED', movedMinor: movedMinor || 0 };
  }
}

/** The order in a request's body, or a sentence that says why there is none. */
export function readOrder(body: Fields): Order | string {
  const { providerId, transactionId, playerRef, currency, amountMinor, originalTransactionId } = body;
  const kind = KINDS.find((candidate) => candidate === body['kind']);
  if (!kind) return `kind must be one of ${KINDS.join(', ')}`;
  if (!isText(providerId) || !isText(transactionId) || !isText(playerRef)) {
    return 'providerId, transactionId and playerRef must be texts';
  }
  if (kind !== 'ADJUSTMENT' && !(isText(body['gameId']) && isText(body['roundId']))) {
    return 'gameId and roundId must be texts';
  }
  if (!isCurrency(currency)) return 'currency must be three upper-case letters';
  if (!isWhole(amountMinor, kind === 'ADJUSTMENT' ? -Number.MAX_SAFE_INTEGER : 0)) {
    return 'amountMinor must be a whole number, negative in an ADJUSTMENT only';
  }
  const order = { providerId, transactionId, kind, playerRef, currency, amountMinor };
  if (kind !== 'ROLLBACK') return order;
  return isText(originalTransactionId)
    ? { ...order, originalTransactionId }
    : 'originalTransactionId is missing';
}

function declined(reason: string): Verdict {
  return { status: 'DECLINED', reason, movedMinor: 0 };
}

/** Any two texts make one key, and no other two the same. */
function key(first: string, second: string): string {
  return JSON.stringify([first, second]);
}
