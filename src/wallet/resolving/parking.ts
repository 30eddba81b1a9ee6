import { Injectable, Logger } from '@nestjs/common';
import type { TransactionKey } from '../transaction.js';
import { UndecidedStore } from './undecided.store.js';

/** Why a transaction is left to a person. */
type ParkingReason = 'the rollback was declined' | 'undecided after 24 hours';

/** Parks transactions that only a person can decide. Contract, section 3, "Undecided transactions without a retry". */
@Injectable()
export class Parking {
  private readonly logger = new Logger('Resolver');
  private readonly watchers: (() => void)[] = [];

  constructor(private readonly undecided: UndecidedStore) {}

  /**
   * Registers a watcher of parked transactions.
   * @param watcher called after this instance has parked a transaction; not awaited, and must not throw
   */
  onParked(watcher: () => void): void {
    this.watchers.push(watcher);
  }

  /** @returns false if the transaction is parked or decided, or an attempt or a ROLLBACK of it is in progress */
  async park(key: TransactionKey, because: ParkingReason): Promise<boolean> {
    if (!(await this.undecided.park(key))) return false;
    this.logger.error({ msg: 'transaction parked for a person', because });
    for (const watcher of this.watchers) watcher();
    return true;
  }
}
