import { Logger } from '@nestjs/common';
import { SETTLING_FACTOR } from '../config/configuration.js';
import type { Metrics } from '../observability/metrics.js';
import type { Clock } from '../runtime/clock.js';
import type {
  BalanceAnswer,
  CallKind,
  MovementRequest,
  OperatorWallet,
  Player,
  WalletAnswer,
} from './operator-wallet.js';
import { Breaker } from './rules/breaker.js';

/** A reserved call to an operator. It counts as under way until `release`, which must be called exactly once. */
export interface ReservedCall {
  release(): void;
}

/**
 * An operator's wallet whose calls are reserved beforehand: limits the concurrent calls, and refuses BETs while the
 * breaker, which counts the results of the calls, does not admit them. Contract, section 9, "Health and pauses".
 */
export class GatedWallet implements OperatorWallet {
  private readonly logger = new Logger('OperatorWallet');
  private readonly breaker = new Breaker();
  /** Whether the breaker was open after the last call. */
  private wasOpen = false;
  private underWay = 0;

  /**
   * @param limit number of calls under way at which BETs and balance reads are refused; other calls are refused at
   *   SETTLING_FACTOR times this number
   */
  constructor(
    private readonly wallet: OperatorWallet,
    private readonly operatorId: string,
    private readonly limit: number,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
  ) {}

  /**
   * Reserves a call, before anything is claimed for it.
   * @returns undefined if too many calls are under way, or if the call is a BET that the open breaker does not admit
   */
  reserve(kind: CallKind): ReservedCall | undefined {
    const refusal = this.refusal(kind);
    if (refusal) {
      this.metrics.operatorCallRefused(this.operatorId, kind, refusal);
      return undefined;
    }
    this.underWay += 1;
    return { release: () => (this.underWay -= 1) };
  }

  /**
   * Whether `reserve` would admit a call of this kind now, without the one BET per second that an open breaker admits.
   * Reserves and counts nothing.
   */
  wouldAdmit(kind: CallKind): boolean {
    return !this.isFull(kind) && !(kind === 'BET' && this.isBreakerOpen());
  }

  isBreakerOpen(): boolean {
    return this.breaker.isOpen(this.clock.monotonicMs());
  }

  async book(request: MovementRequest): Promise<WalletAnswer> {
    const answer = await this.wallet.book(request);
    this.count(answer);
    return answer;
  }

  async balance(player: Player): Promise<BalanceAnswer> {
    const answer = await this.wallet.balance(player);
    this.count(answer);
    return answer;
  }

  private refusal(kind: CallKind): 'full' | 'breaker-open' | undefined {
    if (this.isFull(kind)) return 'full';
    return kind === 'BET' && !this.breaker.admitBet(this.clock.monotonicMs()) ? 'breaker-open' : undefined;
  }

  private isFull(kind: CallKind): boolean {
    const limit = kind === 'BET' || kind === 'BALANCE' ? this.limit : this.limit * SETTLING_FACTOR;
    return this.underWay >= limit;
  }

  /** Counts the result of a call, and logs one line if the breaker has opened or closed since the previous call. */
  private count(answer: WalletAnswer | BalanceAnswer): void {
    const { operatorId } = this;
    const nowMs = this.clock.monotonicMs();
    this.breaker.record('noHttpAnswer' in answer ? 'failed' : 'answered', nowMs);
    const open = this.breaker.isOpen(nowMs);
    if (open === this.wasOpen) return;
    this.wasOpen = open;
    if (open)
      this.logger.warn({ msg: 'breaker open: BETs are refused, except for one each second', operatorId });
    else this.logger.log({ msg: 'breaker closed', operatorId });
  }
}
