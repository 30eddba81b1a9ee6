import { Injectable } from '@nestjs/common';
import { BoundedLogger } from '../observability/bounded-logger.js';
import { Background } from '../runtime/background.js';
import type { BackgroundLoop } from '../runtime/background-loop.js';
import { Clock } from '../runtime/clock.js';
import type { LimitKey } from './limit.store.js';
import { TradedCurrencyStore } from './traded-currency.store.js';

/** Interval at which an instance stores the currencies in which operators trade, in milliseconds. */
const STORE_MS = 2_000;
/** How long a stored currency is not stored again, in milliseconds. */
const STORED_FOR_MS = 3_600_000;
/** Maximum number of currencies that wait to be stored; further ones are noted by their next transaction. */
const MAX_WAITING = 1_000;
/** How long a stop waits until the storing that is under way has ended, in milliseconds. */
const STOP_MS = 1_000;

/**
 * Notes in which currencies operators trade, so that the list of currencies without limits need not read transactions.
 * A currency that is noted but not stored when the process dies is noted again by its next transaction.
 */
@Injectable()
export class TradedCurrencies {
  private readonly logger = new BoundedLogger('TradedCurrencies');
  /** The currencies of each operator that were noted since `since`. */
  private noted = new Map<string, Set<string>>();
  private since: number;
  private waiting: LimitKey[] = [];
  private readonly loop: BackgroundLoop;

  constructor(
    private readonly clock: Clock,
    private readonly traded: TradedCurrencyStore,
    background: Background,
  ) {
    this.since = clock.monotonicMs();
    this.loop = background.add({
      name: 'store the currencies in which operators trade',
      intervalMs: STORE_MS,
      stopMs: STOP_MS,
      work: () => this.pass(),
      onError: (detail) => this.logger.warn({ msg: 'traded currencies could not be stored', detail }),
    });
  }

  /** Called for each approved transaction with real money, so it only looks up what is known. */
  note(operatorId: string, currency: string): void {
    const currencies = this.noted.get(operatorId);
    if (currencies?.has(currency) || this.waiting.length >= MAX_WAITING) return;
    if (currencies) currencies.add(currency);
    else this.noted.set(operatorId, new Set([currency]));
    this.waiting.push({ operatorId, currency });
  }

  /** Stores what this instance has noted. Never rejects. */
  store(): Promise<void> {
    return this.loop.run();
  }

  private async pass(): Promise<void> {
    if (this.clock.monotonicMs() - this.since > STORED_FOR_MS) {
      this.noted = new Map();
      this.since = this.clock.monotonicMs();
    }
    const traded = this.waiting;
    if (traded.length === 0) return;
    this.waiting = [];
    try {
      await this.traded.store(traded);
    } catch (error) {
      // Their next transactions note them again.
      for (const { operatorId, currency } of traded) this.noted.get(operatorId)?.delete(currency);
      throw error;
    }
  }
}
