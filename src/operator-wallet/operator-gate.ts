import { SETTLING_FACTOR } from '../config/configuration.js';
import { Breaker } from './rules/breaker.js';
import type { MovementRequest } from './operator-wallet.js';

/** The purpose of a call to the operator. */
export type CallKind = MovementRequest['kind'] | 'BALANCE';

/** Why a call is refused before anything is claimed. */
export type GateRefusal = 'full' | 'breaker-open';

/**
 * Admits or refuses calls to one operator, by the bound on concurrent calls and by the breaker. Contract, section 9.
 */
export class OperatorGate {
  readonly breaker = new Breaker();
  private underWay = 0;

  /**
   * @param limit number of calls under way at which BETs and balance reads are refused; other calls are refused at
   *   SETTLING_FACTOR times this number
   */
  constructor(private readonly limit: number) {}

  /**
   * Admits a call and counts it as under way until `leave`, or refuses it.
   * @returns why the call is refused; undefined if it is admitted
   */
  enter(kind: CallKind, nowMs: number): GateRefusal | undefined {
    const limit = kind === 'BET' || kind === 'BALANCE' ? this.limit : this.limit * SETTLING_FACTOR;
    if (this.underWay >= limit) return 'full';
    if (kind === 'BET' && !this.breaker.admitBet(nowMs)) return 'breaker-open';
    this.underWay += 1;
    return undefined;
  }

  leave(): void {
    this.underWay -= 1;
  }
}
