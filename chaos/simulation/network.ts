import type { Seeded } from '../seeded.js';
import type { SimulatedTime } from './time.js';

/**
 * The fate of a call to the wallet. With `late` it arrives after a delay, with `twice` it arrives again after a delay;
 * most of these delays are longer than the caller's time-out.
 */
export type FateOfCall =
  'answered' | 'refused' | 'silent' | 'booked-refused' | 'booked-silent' | 'late' | 'twice';
const MISFORTUNES = ['refused', 'silent', 'booked-refused', 'booked-silent', 'late', 'twice'] as const;

/** Probabilities of one schedule, 0 … 1. */
export interface Rates {
  readonly wallet: number;
  readonly decline: number;
  readonly database: number;
  readonly client: number;
}

/** Longest latency of a message after the end of the faults, in milliseconds. */
const HEALTHY_MS = 10;

/** The simulated network: draws the latency of each message, and whether it is lost. */
export class Network {
  /** Whether the faults have ended. */
  healed = false;

  /** @param latencyMs longest usual latency of a message; occasionally, a message takes up to twenty times as long */
  constructor(
    private readonly time: SimulatedTime,
    private readonly random: Seeded,
    private readonly rates: Rates,
    private readonly latencyMs: number,
  ) {}

  hop(arrive: () => void): void {
    const slow = this.random.chance(0.05) ? 20 : 1;
    const most = this.healed ? HEALTHY_MS : this.latencyMs * slow;
    this.time.after(this.random.fraction() * most, arrive);
  }

  fateOfQuery(): 'answered' | 'lost-before' | 'lost-after' {
    if (!this.strikes(this.rates.database)) return 'answered';
    return this.random.chance(0.5) ? 'lost-before' : 'lost-after';
  }

  fateOfCall(): { fate: FateOfCall; lateMs: number; decline: boolean } {
    const strikes = this.strikes(this.rates.wallet);
    return {
      fate: strikes ? this.random.pick(MISFORTUNES) : 'answered',
      lateMs: this.random.between(0, 15_000),
      decline: this.strikes(this.rates.decline),
    };
  }

  /** Whether a provider loses an answer. */
  losesAnswer(): boolean {
    return this.strikes(this.rates.client);
  }

  private strikes(rate: number): boolean {
    return !this.healed && this.random.chance(rate);
  }
}
