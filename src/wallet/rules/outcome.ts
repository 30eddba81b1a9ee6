import { DECLINE_REASONS, type DeclineReason } from './decision.js';

/** Maps the operator's reason to one for the provider. An unknown reason becomes OTHER. Contract, section 3. */
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

/** Serialises a response. The text of a settled transaction is stored and sent unchanged in every replay. */
export function responseBody(response: Response): string {
  const { transactionId, platformTransactionId, status, balance, currency, declineReason } = response;
  return JSON.stringify({ transactionId, platformTransactionId, status, balance, currency, declineReason });
}
