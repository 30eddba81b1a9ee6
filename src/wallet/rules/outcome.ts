import { DECLINE_REASONS, type DeclineReason } from './decision.js';

/** Maps the operator's reason to one that a provider may receive: OTHER if it is none of them. Contract, section 3. */
export function declineReason(operatorsReason: string | undefined): DeclineReason {
  return DECLINE_REASONS.find((reason) => reason === operatorsReason) ?? 'OTHER';
}

export interface Response {
  readonly transactionId: string;
  readonly platformTransactionId: string;
  readonly status: 'APPROVED' | 'DECLINED';
  /** Minor units. */
  readonly balance: number;
  readonly currency: string;
  readonly declineReason?: DeclineReason | undefined;
}

/** The response's bytes, which are stored and sent unchanged in every replay. */
export function responseBody(response: Response): string {
  const { transactionId, platformTransactionId, status, balance, currency, declineReason } = response;
  return JSON.stringify({ transactionId, platformTransactionId, status, balance, currency, declineReason });
}
