import { parseJsonObject } from '../http/validation/json.js';
import type { CallOutcome, ReceivedAnswer } from '../outbound/answer.js';
import type { Outbound } from '../outbound/outbound.service.js';
import type {
  BalanceAnswer,
  OperatorWallet,
  MovementRequest,
  Player,
  UnknownOutcome,
  WalletAnswer,
} from './operator-wallet.js';

/** The current address, signing secret and time-out of an operator's wallet. */
export interface WalletAddress {
  readonly operatorId: string;
  readonly walletBaseUrl: string;
  readonly secret: string;
  readonly timeoutMs: number;
}

/** Length to which texts of an operator are truncated, in UTF-16 code units. */
const WORDS_LIMIT = 200;

/** Beyond this range JSON.parse rounds, and an inexact balance must not be passed on. */
const NO_BALANCE = 'the answer lacks an integer balance within ±(2^53 − 1)';

/** Calls an operator's wallet with the contract's JSON, signed with the operator's secret. Contract, section 4. */
export class SignedJsonWallet implements OperatorWallet {
  constructor(
    private readonly outbound: Outbound,
    private readonly address: WalletAddress,
  ) {}

  book(request: MovementRequest): Promise<WalletAnswer> {
    return this.post('/transaction', request).then(decisionIn);
  }

  balance({ playerRef, currency }: Player): Promise<BalanceAnswer> {
    return this.post('/balance', { playerRef, currency }).then(balanceIn);
  }

  private post(route: string, body: object): Promise<CallOutcome> {
    const { operatorId, walletBaseUrl, secret, timeoutMs } = this.address;
    return this.outbound.post({
      tenantId: operatorId,
      secret,
      baseUrl: walletBaseUrl,
      route,
      body,
      timeoutMs,
    });
  }
}

function decisionIn(outcome: CallOutcome): WalletAnswer {
  const answer = read(outcome);
  if (answer.kind === 'unknown') return answer;
  const { received } = answer;
  const { status, balance, reason, operatorTransactionId } = answer.fields;
  if (status !== 'APPROVED' && status !== 'DECLINED') {
    return unavailable('the answer lacks the status APPROVED or DECLINED', received);
  }
  if (!Number.isSafeInteger(balance)) return unavailable(NO_BALANCE, received);
  return {
    kind: 'decided',
    status,
    balance: balance as number,
    ...sanitised('reason', reason),
    ...sanitised('operatorTransactionId', operatorTransactionId),
  };
}

function balanceIn(outcome: CallOutcome): BalanceAnswer {
  const answer = read(outcome);
  if (answer.kind === 'unknown') return answer;
  const { balance } = answer.fields;
  if (!Number.isSafeInteger(balance)) return unavailable(NO_BALANCE, answer.received);
  return { kind: 'known', balance: balance as number };
}

function read(outcome: CallOutcome): ReadAnswer | UnknownOutcome {
  if (outcome.kind === 'timeout') {
    const { detail, received } = outcome;
    return { kind: 'unknown', cause: 'timeout', noHttpAnswer: true, detail, ...(received && { received }) };
  }
  if (outcome.kind === 'failed') {
    return {
      ...unavailable(outcome.detail, outcome.received),
      ...(!outcome.answered && { noHttpAnswer: true }),
    };
  }
  if (outcome.status !== 200) return unavailable(`the wallet answered ${outcome.status}`, outcome);
  try {
    return { kind: 'read', fields: parseJsonObject(outcome.body), received: outcome };
  } catch {
    return unavailable('the answer is not a JSON object', outcome);
  }
}

/** A 200 with a JSON object. Its fields have not been checked yet. */
interface ReadAnswer {
  readonly kind: 'read';
  readonly fields: Record<string, unknown>;
  readonly received: ReceivedAnswer;
}

function unavailable(detail: string, received?: ReceivedAnswer): UnknownOutcome {
  return { kind: 'unknown', cause: 'unavailable', detail, ...(received && { received }) };
}

/** Truncates an operator's text and replaces control characters and lone surrogates; {} if there is no text. */
function sanitised<K extends string>(name: K, value: unknown): { [name in K]?: string } {
  if (typeof value !== 'string' || value === '') return {};
  const harmless = value
    .slice(0, WORDS_LIMIT)
    .toWellFormed()
    .replace(/\p{Cc}/gu, '\uFFFD');
  return { [name]: harmless } as { [name in K]?: string };
}
