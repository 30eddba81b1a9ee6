import { Injectable } from '@nestjs/common';
import { LimitsService } from '../limits/limits.service.js';
import { TradedCurrencies } from '../limits/traded-currencies.js';
import { Metrics } from '../observability/metrics.js';
import { dependsOnBets } from './rules/win-kind.js';
import type { Claim, Settlement } from './transaction.js';

/**
 * A settled real-money transaction after which a WIN may have to be flagged: the APPROVED WIN itself, an APPROVED
 * ROLLBACK or a DECLINED BET. After the latter two, WINs of the same round may no longer have a BET that is or may become
 * APPROVED.
 */
export interface WinningsTrigger {
  readonly kind: 'BET' | 'WIN' | 'ROLLBACK';
  readonly providerId: string;
  readonly transactionId: string;
}

/** Compares WINs with their limits, and reports the settlements after which a WIN may have to be flagged. */
@Injectable()
export class WinMonitor {
  private readonly watchers: ((trigger: WinningsTrigger) => void)[] = [];

  constructor(
    private readonly limits: LimitsService,
    private readonly metrics: Metrics,
    private readonly traded: TradedCurrencies,
  ) {}

  /**
   * Registers a watcher of the transactions after which a WIN may have to be flagged, whether the provider, the
   * resolver or an administrator settled them.
   * @param watcher not awaited; must not throw. It is called after each real-money transaction that is
   * - an APPROVED ROLLBACK that may have reversed a BET,
   * - an APPROVED WIN that names a freeSpinsRef, exceeds its limit, or depends on BETs and is not known to have an
   *   APPROVED one in its round, or
   * - a BET that is DECLINED after its first attempt.
   */
  onWinningsTrigger(watcher: (trigger: WinningsTrigger) => void): void {
    this.watchers.push(watcher);
  }

  /**
   * The limit, in minor units, that a WIN with real money exceeds; undefined if it exceeds none. Such a WIN is booked
   * nevertheless. Contract, section 9.
   */
  exceededLimit({ mode, operatorId, verdict, operatorRequest }: Claim): number | undefined {
    if (operatorRequest.kind !== 'WIN' || mode !== 'REAL' || verdict !== undefined) return undefined;
    const limitMinor = this.limits.maxWinMinor(operatorId, operatorRequest.currency);
    return limitMinor !== undefined && operatorRequest.amountMinor > limitMinor ? limitMinor : undefined;
  }

  /** Reports a committed settlement to the metrics, the traded currencies and the watchers. */
  settled(claim: Claim, { state }: Settlement, limitMinor: number | undefined): void {
    const { providerId, kind, currency } = claim.operatorRequest;
    this.metrics.transactionSettled(claim.operatorId, providerId, kind, state, claim.mode);
    if (state === 'APPROVED' && claim.mode === 'REAL') this.traded.note(claim.operatorId, currency);
    const aboveLimit = state === 'APPROVED' && limitMinor !== undefined;
    if (aboveLimit || mayFlagWinnings(claim, state)) this.report(claim);
  }

  private report({ operatorRequest: { kind, providerId, transactionId } }: Claim): void {
    if (kind === 'ADJUSTMENT') return;
    for (const watcher of this.watchers) watcher({ kind, providerId, transactionId });
  }
}

/**
 * Whether a settled attempt may cause a WIN to be flagged for a reason other than its limit. A WIN without a
 * freeSpinsRef does not if its round has an APPROVED BET or if it does not depend on BETs. Neither does a ROLLBACK with a
 * verdict, because it has reversed nothing. A BET that is DECLINED at once is frequent, and rarely has kept a WIN from
 * being flagged: the search for flagged winnings finds such a WIN.
 */
function mayFlagWinnings(claim: Claim, state: Settlement['state']): boolean {
  const { attempt, mode, verdict, standsOnBet = false, operatorRequest } = claim;
  const { kind, freeSpinsRef } = operatorRequest;
  if (mode !== 'REAL') return false;
  if (kind === 'BET') return state === 'DECLINED' && attempt > 1;
  if (state !== 'APPROVED') return false;
  if (kind === 'WIN') return freeSpinsRef !== undefined || (!standsOnBet && dependsOnBets(operatorRequest));
  return kind === 'ROLLBACK' && verdict === undefined;
}
