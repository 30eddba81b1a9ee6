import { SETTLING_FACTOR } from '../config/configuration.js';
import { Breaker } from './rules/breaker.js';
import type { MovementRequest } from './operator-wallet.js';

export type CallKind = MovementRequest['kind'] | 'BALANCE';

/** Why a call is refused before anything is claimed. `full`: too many calls to the operator are under way. */
export type GateRefusal = 'full' | 'breaker-open';

/**
 * Limits the concurrent calls to one operator, and refuses BETs while the breaker does not admit them. Contract,
 * section 9.
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
   * Refuses a call, or admits it and counts it as under way until `leave`.
   * @returns why the call is refused; undefined if it is admitted
   */
  enter(kind: CallKind, nowMs: number): GateRefusal | undefined {
    if (this.isFull(kind)) return 'full';
    if (kind === 'BET' && !this.breaker.admitBet(nowMs)) return 'breaker-open';
    this.underWay += 1;
    return undefined;
  }

  leave(): void {
    this.underWay -= 1;
  }

  /** Whether no further call of this kind may be under way. */
  isFull(kind: CallKind): boolean {
    const limit = kind === 'BET' || kind === 'BALANCE' ? this.limit : this.limit * SETTLING_FACTOR;
    return this.underWay >= limit;
  }
}
