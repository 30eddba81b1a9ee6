import { digitsOfLongInteger, parseJsonObject } from '../api/validation/json.js';
import type { CallOutcome, ReceivedAnswer } from '../outbound/answer.js';
import { storable } from '../runtime/storable.js';
import type {
  BalanceAnswer,
  MovementRequest,
  Player,
  UnknownOutcome,
  WalletAnswer,
} from './operator-wallet.js';

/** Length to which texts of an operator are truncated, in UTF-16 code units. */
const WORDS_LIMIT = 200;
/** An operatorTransactionId that is kept, in code points. */
const OPERATOR_ID = /^.{1,200}$/su;

/** Beyond this range JSON.parse rounds, and an inexact balance must not be passed on. */
const NO_BALANCE = 'the answer lacks an integer balance within ±(2^53 − 1)';

/**
 * The wallet's decision about a movement. An answer counts only if it names the movement's transactionId, because a
 * connection can deliver the answer to another call. Contract, section 4.
 */
export function decisionIn(outcome: CallOutcome, { transactionId }: MovementRequest): WalletAnswer {
  const answer = read(outcome, { transactionId });
  if (answer.kind === 'unknown') return answer;
  const { fields, received } = answer;
  const { status, balance, reason } = fields;
  if (status !== 'APPROVED' && status !== 'DECLINED') {
    return unavailable('the answer lacks the status APPROVED or DECLINED', received);
  }
  if (!Number.isSafeInteger(balance)) return unavailable(NO_BALANCE, received);
  return {
    kind: 'decided',
    status,
    balance: balance as number,
    ...(typeof reason === 'string' && reason !== '' && { reason: sanitised(reason) }),
    ...operatorIdIn(answer),
  };
}

/** The balance in a wallet's answer, which must name the player and the currency. Contract, section 4. */
export function balanceIn(outcome: CallOutcome, { playerRef, currency }: Player): BalanceAnswer {
  const answer = read(outcome, { playerRef, currency });
  if (answer.kind === 'unknown') return answer;
  const { fields, received } = answer;
  const { balance } = fields;
  if (!Number.isSafeInteger(balance)) return unavailable(NO_BALANCE, received);
  return { kind: 'known', balance: balance as number };
}

/** A 200 with a JSON object. Its fields have not been checked yet. */
interface ReadAnswer {
  readonly kind: 'read';
  readonly fields: Record<string, unknown>;
  readonly received: ReceivedAnswer;
}

/**
 * @param names the fields of the request that its answer must repeat. An answer with another status than 200 need not
 *   name anything, but must not name another call
 */
function read(outcome: CallOutcome, names: Record<string, string>): ReadAnswer | UnknownOutcome {
  if (outcome.kind === 'timeout') {
    const { detail, notSent, received } = outcome;
    return {
      kind: 'unknown',
      cause: 'timeout',
      noHttpAnswer: true,
      detail,
      ...(notSent && { notSent }),
      ...(received && { received }),
    };
  }
  if (outcome.kind === 'failed') {
    return {
      ...unavailable(outcome.detail, outcome.received),
      ...(outcome.systemMessage && { systemMessage: outcome.systemMessage }),
      ...(outcome.notSent && { notSent: true }),
      ...(!outcome.answered && { noHttpAnswer: true }),
    };
  }
  const { status, body, encoding } = outcome;
  const received = { status, body };
  if (encoding !== undefined) {
    return unread(`the answer has the Content-Encoding ${shown(encoding)}, which is not read`, received);
  }
  const fields = parseJsonObject(body);
  const differing = Object.keys(names).filter((name) =>
    status === 200 ? fields?.[name] !== names[name] : (fields?.[name] ?? names[name]) !== names[name],
  );
  if (fields && differing.length > 0) return misdirected(differing, names, fields, received);
  if (status !== 200) return unavailable(`the wallet answered ${status}`, received);
  return fields ? { kind: 'read', fields, received } : unread('the answer is not a JSON object', received);
}

/** An answer that cannot name its call; one with another status than 200 need not. */
function unread(detail: string, received: ReceivedAnswer): UnknownOutcome {
  return { ...unavailable(detail, received), ...(received.status === 200 && { unreadable: true }) };
}

function misdirected(
  differing: readonly string[],
  expected: Record<string, string>,
  fields: Record<string, unknown>,
  received: ReceivedAnswer,
): UnknownOutcome {
  const differences = differing.map((name) => {
    const named = name in fields ? `${name} ${shown(fields[name])}` : `no ${name}`;
    return `${named} instead of ${shown(expected[name])}`;
  });
  const detail = `the answer does not name this call: ${differences.join(', ')}`;
  return { ...unavailable(detail, received), misdirected: true };
}

function unavailable(detail: string, received?: ReceivedAnswer): UnknownOutcome {
  return { kind: 'unknown', cause: 'unavailable', detail, ...(received && { received }) };
}

/**
 * The operator's own id of the transaction: a text of 1 to 200 characters, or an integer, which is kept as its decimal
 * text. Anything else is ignored, and `detail` says so.
 */
function operatorIdIn({ fields, received }: ReadAnswer): { operatorTransactionId?: string; detail?: string } {
  const field = 'operatorTransactionId';
  if (!(field in fields)) return {};
  const value = fields[field];
  const text = Number.isInteger(value) ? integerText(value as number, received, field) : value;
  if (typeof text === 'string' && OPERATOR_ID.test(text)) return { operatorTransactionId: storable(text) };
  return { detail: `${field} is ignored: it is neither a text of 1 to 200 characters nor an integer` };
}

function integerText(value: number, { body }: ReceivedAnswer, field: string): string | undefined {
  return Number.isSafeInteger(value) ? String(value) : digitsOfLongInteger(body, field);
}

/** Truncates a text, and replaces control characters and lone surrogates. */
function sanitised(text: string): string {
  return text
    .slice(0, WORDS_LIMIT)
    .toWellFormed()
    .replace(/\p{Cc}/gu, '\uFFFD');
}

/** A foreign value for a message: bounded, and without the content of lists and objects, which may be nested deeply. */
function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(sanitised(value));
  if (typeof value !== 'object' || value === null) return String(value);
  return Array.isArray(value) ? 'a list' : 'an object';
}
