import type { CallOutcome } from '../../src/outbound/answer.js';
import type { Seeded } from '../seeded.js';
import type { SimulatedTime } from './time.js';

/**
 * Faults of a call to the wallet. With `late` it arrives after a delay, with `twice` it arrives again after a delay; most
 * of these delays are longer than the caller's time-out. With `swapped`, its answer and that of the next answered call
 * change places; with `answered-twice`, another call receives its answer, too.
 */
const MISFORTUNES = [
  'refused',
  'silent',
  'booked-refused',
  'booked-silent',
  'late',
  'twice',
  'swapped',
  'answered-twice',
] as const;
export type FateOfCall = 'answered' | (typeof MISFORTUNES)[number];

/** Probabilities of one schedule, 0 … 1. */
export interface Rates {
  readonly wallet: number;
  readonly decline: number;
  readonly database: number;
  readonly client: number;
}

/** Longest latency of a message after the end of the faults, in milliseconds. */
const HEALTHY_MS = 10;

/** How long an answer waits for another one to change places with, in milliseconds. */
const SWAP_MS = 500;

/** The wallet's answer on its way to its call. */
interface Answer {
  readonly outcome: CallOutcome;
  readonly deliver: (outcome: CallOutcome) => void;
}

/** The simulated network: draws the latency of each message, and whether it is lost. */
export class Network {
  /** Whether the faults have ended. */
  healed = false;
  /** How often an answer reached another call than its own. */
  misdelivered = 0;
  private waiting: (Answer & { readonly until: number }) | undefined;

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

  /** Delivers an answer. If another one waits to be swapped, the two change places. */
  answer(answer: Answer): void {
    const { waiting } = this;
    this.waiting = undefined;
    if (!waiting || waiting.until < this.time.now) return answer.deliver(answer.outcome);
    this.misdelivered += 2;
    waiting.deliver(answer.outcome);
    answer.deliver(waiting.outcome);
  }

  /** Lets an answer and the next one change places. Without a next one in time, it is lost. */
  swap(answer: Answer): void {
    if (this.waiting) this.answer(answer);
    else this.waiting = { ...answer, until: this.time.now + SWAP_MS };
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
