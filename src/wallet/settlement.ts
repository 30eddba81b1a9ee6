import { currentRequestId } from '../observability/trace.js';
import type { UnknownOutcome, WalletAnswer } from '../operator-wallet/operator-wallet.js';
import { monotonicMs } from '../runtime/clock.js';
import { declineReason, responseBody } from './rules/outcome.js';
import type { Claim, Driver, Settlement } from './transaction.js';

/** The settlement that stores an operator's answer to an attempt, with the attempt's entry in the history. */
export function settlementOf(
  claim: Claim,
  answer: WalletAnswer,
  driver: Driver,
  started: { at: Date; ms: number },
): Settlement {
  const record = <Outcome extends object>(outcome: Outcome) => ({
    attempt: claim.attempt,
    driver: driver === 'provider' ? undefined : driver,
    requestId: currentRequestId(),
    startedAt: started.at.toISOString(),
    durationMs: Math.round(monotonicMs() - started.ms),
    ...outcome,
  });
  if (answer.kind === 'unknown') {
    return {
      state: 'TIMED_OUT',
      responseBody: null,
      declineReason: null,
      record: record({
        outcome: codeOf(answer),
        detail: answer.detail,
        operatorStatus: answer.received?.status,
        notSent: answer.notSent,
      }),
    };
  }
  const { status, balance, reason, operatorTransactionId, detail } = answer;
  const declined = status === 'DECLINED' ? declineReason(reason) : undefined;
  const { transactionId, currency } = claim.operatorRequest;
  const { platformTransactionId } = claim;
  const body = { transactionId, platformTransactionId, status, balance, currency, declineReason: declined };
  return {
    state: status,
    responseBody: responseBody(body),
    declineReason: declined ?? null,
    record: record({ outcome: status, balance, reason, operatorTransactionId, detail }),
  };
}

/** The error code for a missing or invalid answer of an operator. */
export function codeOf(unknown: UnknownOutcome): 'OPERATOR_TIMED_OUT' | 'OPERATOR_UNAVAILABLE' {
  return unknown.cause === 'timeout' ? 'OPERATOR_TIMED_OUT' : 'OPERATOR_UNAVAILABLE';
}
