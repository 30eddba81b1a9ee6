import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Address } from './link.js';

/**
 * What a wallet or a provider does with a call. After the service's time-out, `late` books and `twice` books again. The
 * answer of a `swapped` call and that of another one change places; an `answered-twice` call is answered once more on
 * the same connection.
 */
export type Fate =
  | 'answered'
  | 'declined'
  | 'refused'
  | 'silent'
  | 'dropped'
  | 'booked-refused'
  | 'booked-silent'
  | 'booked-dropped'
  | 'late'
  | 'slow'
  | 'twice'
  | 'swapped'
  | 'answered-twice';

/** The fates after which the money has moved without the service knowing. */
export const BOOKED_AND_LOST: readonly Fate[] = ['booked-refused', 'booked-silent', 'booked-dropped', 'late'];

export interface WalletRates {
  readonly seed: number;
  /** Probabilities, 0 … 1. */
  readonly misbehave: number;
  readonly decline: number;
  readonly walletTimeoutMs: number;
}

/** A received call of `/transaction`. */
export interface CallRecord {
  /** Unix time in milliseconds. */
  readonly at: number;
  readonly operatorId: string;
  readonly providerId: string;
  readonly transactionId: string;
  readonly fate: Fate;
  /** The balances in the answers to it, in minor units, whether they were delivered or not. */
  readonly balances: number[];
}

/** A balance in an answer to `/balance`. */
export interface BalanceRecord {
  readonly operatorId: string;
  readonly playerRef: string;
  /** In minor units. */
  readonly balance: number;
}

/** How often the answers of a wallet or webhook reached another call than theirs. */
export interface DeliveryRecord {
  readonly party: string;
  /** Pairs of answers that changed places. */
  readonly swaps: number;
  /** Answers that were sent once more. */
  readonly repeats: number;
}

export type Command =
  | { readonly do: 'behave'; readonly rates: WalletRates }
  | { readonly do: 'write-out'; readonly folder: string };

/** The process with the operators' wallets and the providers' webhooks. */
export class Counterparts {
  private constructor(
    private readonly child: ChildProcess,
    readonly address: Address,
  ) {}

  static async start(): Promise<Counterparts> {
    const child = fork(join(import.meta.dirname, 'counterparts.js'));
    const [{ port }] = (await once(child, 'message')) as [{ port: number }];
    return new Counterparts(child, { host: '127.0.0.1', port });
  }

  async command(command: Command): Promise<void> {
    const done = once(this.child, 'message');
    this.child.send(command);
    await done;
  }

  stop(): void {
    if (this.child.connected) this.child.disconnect();
  }
}
