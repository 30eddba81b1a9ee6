import type { Kind, Mode, State } from '../../rules/facts.js';

/** A transaction of a round, as far as it decides what the round adds up to. */
export interface RoundTransaction {
  readonly transactionId: string;
  /** Null: a tombstone. */
  readonly kind: Kind | 'ADJUSTMENT' | null;
  readonly state: State;
  readonly amountMinor: number;
  readonly currency: string;
  readonly roundClosed: boolean | null;
  /** What a ROLLBACK names. */
  readonly originalTransactionId: string | null;
  /** Whether the platform decided it by its own rules, so that no money moves. */
  readonly ownVerdict: boolean;
  /** The outcome of the last attempt whose answer the provider received. */
  readonly lastReported: string | undefined;
}

/** A round: these are its key. Contract, section 3. */
export interface RoundKey {
  readonly providerId: string;
  readonly operatorId: string;
  readonly playerRef: string;
  readonly gameId: string;
  readonly roundId: string;
  readonly mode: Mode;
}

/** In minor units. What a number does not hold exactly, beyond 2^53−1, is absent. */
export interface BetsAndWins {
  readonly betMinor?: number;
  readonly winMinor?: number;
  /** WINs minus BETs. */
  readonly netMinor?: number;
}

/** What a round adds up to in one currency, by what each side knows of it. */
export interface SumsOfCurrency {
  readonly currency: string;
  /** By the last answers that the provider got. */
  readonly told: BetsAndWins;
  /** By the operator's answers. */
  readonly operator: BetsAndWins;
  /** What is undecided. */
  readonly unknown: BetsAndWins;
}

/** A round is open while it has an APPROVED BET, no APPROVED WIN and no `roundClosed`. Contract, section 9. */
export function isOpen(transactions: readonly RoundTransaction[]): boolean {
  const approved = (kind: Kind) =>
    transactions.some((each) => each.kind === kind && each.state === 'APPROVED');
  return approved('BET') && !approved('WIN') && !transactions.some(({ roundClosed }) => roundClosed);
}

/**
 * Adds a round up, with an entry for each of its currencies. BETs that are rolled back are left out. An undecided ROLLBACK of
 * a BET that stands is an unknown BET of a negative amount; of a BET that is undecided itself, the BET alone counts.
 */
export function sumsOf(transactions: readonly RoundTransaction[]): SumsOfCurrency[] {
  const currencies = [...new Set(transactions.map(({ currency }) => currency))].sort();
  const byId = new Map(transactions.map((each) => [each.transactionId, each]));
  return currencies.map((currency) => {
    const told = new Sum();
    const operator = new Sum();
    const unknown = new Sum();
    for (const transaction of transactions.filter((each) => each.currency === currency)) {
      const { kind, state, amountMinor, ownVerdict } = transaction;
      if (kind === 'ROLLBACK') {
        const target = byId.get(transaction.originalTransactionId ?? '');
        const reverses = isUndecided(state) && !ownVerdict && target?.state === 'APPROVED';
        if (reverses) unknown.add('BET', -amountMinor);
        continue;
      }
      if (isToldApproved(transaction, transactions)) told.add(kind, amountMinor);
      if (state === 'APPROVED') operator.add(kind, amountMinor);
      if (isUndecided(state) && !ownVerdict) unknown.add(kind, amountMinor);
    }
    return { currency, told: told.result(), operator: operator.result(), unknown: unknown.result() };
  });
}

export function isUndecided(state: State): boolean {
  return state === 'PENDING' || state === 'TIMED_OUT';
}

/** Whether the provider takes it for booked: it was told APPROVED, and not that a ROLLBACK of it succeeded. */
function isToldApproved(
  { transactionId, lastReported }: RoundTransaction,
  transactions: readonly RoundTransaction[],
): boolean {
  if (lastReported !== 'APPROVED') return false;
  return !transactions.some(
    (each) =>
      each.kind === 'ROLLBACK' &&
      each.originalTransactionId === transactionId &&
      each.lastReported === 'APPROVED',
  );
}

class Sum {
  private bet = 0n;
  private win = 0n;

  add(kind: RoundTransaction['kind'], amountMinor: number): void {
    if (kind === 'BET') this.bet += BigInt(amountMinor);
    if (kind === 'WIN') this.win += BigInt(amountMinor);
  }

  result(): BetsAndWins {
    return {
      ...exact('betMinor', this.bet),
      ...exact('winMinor', this.win),
      ...exact('netMinor', this.win - this.bet),
    };
  }
}

function exact<Name extends keyof BetsAndWins>(name: Name, sum: bigint): { [name in Name]?: number } {
  const minor = Number(sum);
  return (Number.isSafeInteger(minor) ? { [name]: minor } : {}) as { [name in Name]?: number };
}
