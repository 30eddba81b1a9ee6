import type { Booked, MovementRequest } from './operator-wallet.js';

/** The play money of one session. */
export interface DemoLedger {
  /** Minor units, 0 … 2^53−1. */
  balance: number;
  /**
   * The outcome of each transactionId. A ROLLBACK of an unknown transaction stores a DECLINED entry for that
   * transaction as a tombstone, so that a BET that arrives later is declined.
   */
  readonly entries: Map<string, DemoEntry>;
}

export interface DemoEntry {
  readonly status: 'APPROVED' | 'DECLINED';
  readonly reason?: string;
  /** The change of the balance, in minor units; negative for a BET. */
  readonly moved: number;
  readonly reversed?: true;
}

/** Books a movement by the rules of an operator's wallet: books each id once, and reverses each BET at most once. */
export function bookDemo(ledger: DemoLedger, request: MovementRequest): Booked {
  const entry = ledger.entries.get(request.transactionId) ?? enter(ledger, request);
  const { status, reason } = entry;
  return { kind: 'decided', status, balance: ledger.balance, ...(reason !== undefined && { reason }) };
}

function enter(ledger: DemoLedger, request: MovementRequest): DemoEntry {
  const entry = decide(ledger, request);
  ledger.balance += entry.moved;
  ledger.entries.set(request.transactionId, entry);
  const { kind, originalTransactionId } = request;
  if (kind === 'ROLLBACK' && originalTransactionId !== undefined && entry.status === 'APPROVED') {
    const target = ledger.entries.get(originalTransactionId) ?? TOMBSTONE;
    ledger.entries.set(originalTransactionId, { ...target, reversed: true });
  }
  return entry;
}

const TOMBSTONE: DemoEntry = { status: 'DECLINED', reason: 'TRANSACTION_ROLLED_BACK', moved: 0 };

function decide(ledger: DemoLedger, request: MovementRequest): DemoEntry {
  const moved = movement(ledger, request);
  const after = ledger.balance + moved;
  if (after < 0) return { status: 'DECLINED', reason: 'INSUFFICIENT_FUNDS', moved: 0 };
  if (after > Number.MAX_SAFE_INTEGER) return { status: 'DECLINED', reason: 'LIMIT_REACHED', moved: 0 };
  return { status: 'APPROVED', moved };
}

function movement(ledger: DemoLedger, request: MovementRequest): number {
  if (request.kind === 'BET') return 0 - request.amountMinor;
  if (request.kind !== 'ROLLBACK') return request.amountMinor;
  const target = ledger.entries.get(request.originalTransactionId ?? '');
  return target === undefined || target.reversed ? 0 : 0 - target.moved;
}
