import type { Claim } from '../transaction.js';

/** The approved amounts in one currency, in minor units. Negative if more was taken back in this minute than added. */
export interface Amounts {
  betMinor: number;
  winMinor: number;
}

/** What this instance has counted in one minute. */
export class MinuteCounts {
  bets = 0;
  wins = 0;
  rollbacks = 0;
  declined = 0;
  undecided = 0;
  refused = 0;
  readonly amounts = new Map<string, Amounts>();
  /** Whether something was counted since the counts were last shared. */
  changed = false;

  /** @param number the number of minutes from the Unix epoch to the start of this minute, by the database's clock */
  constructor(readonly number: number) {}

  countSubmitted(kind: Claim['operatorRequest']['kind']): void {
    if (kind === 'BET') this.bets += 1;
    else if (kind === 'WIN') this.wins += 1;
    else if (kind === 'ROLLBACK') this.rollbacks += 1;
    this.changed = true;
  }

  count(what: 'declined' | 'undecided' | 'refused'): void {
    this[what] += 1;
    this.changed = true;
  }

  add(currency: string, amount: keyof Amounts, minor: number): void {
    let amounts = this.amounts.get(currency);
    if (!amounts) {
      amounts = { betMinor: 0, winMinor: 0 };
      this.amounts.set(currency, amounts);
    }
    amounts[amount] += minor;
    this.changed = true;
  }
}
