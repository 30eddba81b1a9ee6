import { type Fields, isCurrency, isText, isWhole } from './fields.js';

const KINDS = ['BET', 'WIN', 'ROLLBACK', 'ADJUSTMENT'] as const;
type Kind = (typeof KINDS)[number];

/** A transaction that the platform asks an operator to book. Contract, section 4. */
export interface Order {
  readonly providerId: string;
  readonly transactionId: string;
  readonly kind: Kind;
  readonly playerRef: string;
  readonly currency: string;
  /** Minor units; signed for an ADJUSTMENT only. */
  readonly amountMinor: number;
  /** Always present in a ROLLBACK. */
  readonly originalTransactionId?: string;
  /** Of a WIN, if the provider named them. */
  readonly winKind?: string;
  readonly promotionRef?: string;
}

export interface LedgerEntry extends Order {
  readonly status: 'APPROVED' | 'DECLINED';
  readonly reason?: string;
  /** The change of the player's balance, in minor units, signed. */
  readonly movedMinor: number;
  readonly operatorTransactionId: string;
  /** ISO 8601, UTC. */
  readonly bookedAt: string;
}

/** A player's initial balance, in minor units. */
export const START_BALANCE_MINOR = 100_000;
/** Prefix of the playerRefs of players who may not bet; their WINs and ROLLBACKs are still booked. */
const BLOCKED_PREFIX = 'blocked-';
/** Prefix of the playerRefs of players without an account. */
const UNKNOWN_PREFIX = 'unknown-';

type Verdict = Pick<LedgerEntry, 'status' | 'movedMinor'> & { readonly reason?: string };

/**
 * An operator's ledger, in memory. Each pair of providerId and transactionId is booked once. A BET is reversed at
 * most once, even if several ROLLBACKs name it. A ROLLBACK that arrives before its BET leaves a tombstone.
 */
export class Ledger {
  private readonly entriesByKey = new Map<string, LedgerEntry>();
  /** The targets of approved ROLLBACKs. A target that is not in the ledger is a tombstone. */
  private readonly rolledBack = new Set<string>();
  private readonly movedByAccount = new Map<string, number>();

  constructor(private readonly startBalanceMinor = START_BALANCE_MINOR) {}

  hasAccount(playerRef: string): boolean {
    return !playerRef.startsWith(UNKNOWN_PREFIX);
  }

  /** The player's balance, in minor units; 0 without an account. */
  balance(playerRef: string, currency: string): number {
    if (!this.hasAccount(playerRef)) return 0;
    return this.startBalanceMinor + (this.movedByAccount.get(key(playerRef, currency)) ?? 0);
  }

  find(providerId: string, transactionId: string): LedgerEntry | undefined {
    return this.entriesByKey.get(key(providerId, transactionId));
  }

  /** All entries, oldest first. */
  entries(): LedgerEntry[] {
    return [...this.entriesByKey.values()];
  }

  /** Whether a ROLLBACK with this target was approved, even if the target was never booked. */
  isRolledBack(providerId: string, transactionId: string): boolean {
    return this.rolledBack.has(key(providerId, transactionId));
  }

  /** The entry that booking this order now would create. Changes nothing. */
  judge(order: Order, bookedAt: Date): LedgerEntry {
    return {
      ...order,
      ...this.verdict(order),
      operatorTransactionId: `booking-${this.entriesByKey.size + 1}`,
      bookedAt: bookedAt.toISOString(),
    };
  }

  /** Records an entry; an existing entry with the same id is kept. */
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
    // `|| 0` turns -0, the reversal of 0, into 0.
    return { status: 'APPROVED', movedMinor: movedMinor || 0 };
  }
}

/** The order in a request's body, or a sentence that says why it is invalid. */
export function readOrder(body: Fields): Order | string {
  const { providerId, transactionId, playerRef, currency, amountMinor, originalTransactionId } = body;
  const kind = KINDS.find((candidate) => candidate === body['kind']);
  if (!kind) return `kind must be one of ${KINDS.join(', ')}`;
  if (!isText(providerId) || !isText(transactionId) || !isText(playerRef)) {
    return 'providerId, transactionId and playerRef must be strings';
  }
  if (kind !== 'ADJUSTMENT' && !(isText(body['gameId']) && isText(body['roundId']))) {
    return 'gameId and roundId must be strings';
  }
  if (!isCurrency(currency)) return 'currency must be three upper-case letters';
  if (!isWhole(amountMinor, kind === 'ADJUSTMENT' ? -Number.MAX_SAFE_INTEGER : 0)) {
    return 'amountMinor must be a whole number, negative in an ADJUSTMENT only';
  }
  const { winKind, promotionRef } = body;
  const order = {
    providerId,
    transactionId,
    kind,
    playerRef,
    currency,
    amountMinor,
    ...(isText(winKind) && { winKind }),
    ...(isText(promotionRef) && { promotionRef }),
  };
  if (kind !== 'ROLLBACK') return order;
  return isText(originalTransactionId)
    ? { ...order, originalTransactionId }
    : 'originalTransactionId is missing';
}

function declined(reason: string): Verdict {
  return { status: 'DECLINED', reason, movedMinor: 0 };
}

function key(first: string, second: string): string {
  return JSON.stringify([first, second]);
}
