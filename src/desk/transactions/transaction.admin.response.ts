import { ApiProperty, ApiPropertyOptional, IntersectionType } from '@nestjs/swagger';
import { listOf } from '../../api/lists/list.js';
import { columnsOf } from '../../api/lists/item.js';
import type { State, WinKind } from '../../wallet/rules/facts.js';
import { WIN_KINDS } from '../../wallet/rules/win-kind.js';
import { type Advice, ADVISED_ACTIONS } from './advice.js';
import { STATES } from './transaction.admin.request.js';

/** A transaction in a list. A field without a value is absent. */
export class TransactionItem {
  @ApiProperty({ example: 'sandbox-provider', description: '`platform` for an adjustment' })
  providerId: string;
  @ApiProperty({ example: 'bet-1001' })
  transactionId: string;
  @ApiProperty({ format: 'uuid' })
  platformTransactionId: string;
  @ApiPropertyOptional({
    enum: ['BET', 'WIN', 'ROLLBACK', 'ADJUSTMENT'],
    example: 'BET',
    description: 'absent for a tombstone: a transaction whose ROLLBACK came first',
  })
  kind?: 'BET' | 'WIN' | 'ROLLBACK' | 'ADJUSTMENT';
  @ApiProperty({ enum: STATES, example: 'APPROVED' })
  state: State;
  @ApiProperty({ example: 'sandbox-operator' })
  operatorId: string;
  @ApiPropertyOptional({ format: 'uuid' })
  sessionId?: string;
  @ApiProperty({ enum: ['REAL', 'DEMO'] })
  mode: 'REAL' | 'DEMO';
  @ApiProperty({ example: 'player-42' })
  playerRef: string;
  @ApiPropertyOptional({ example: 'sandbox-slots' })
  gameId?: string;
  @ApiPropertyOptional({ example: 'round-7' })
  roundId?: string;
  @ApiProperty({ type: 'integer', example: 250, description: 'Minor units; signed for an adjustment only' })
  amountMinor: number;
  @ApiProperty({ example: 'EUR' })
  currency: string;
  @ApiPropertyOptional()
  roundClosed?: boolean;
  @ApiPropertyOptional({ description: 'The target of a ROLLBACK' })
  originalTransactionId?: string;
  @ApiPropertyOptional({ description: 'For a WIN of free spins: the externalRef of their grant' })
  freeSpinsRef?: string;
  @ApiPropertyOptional({ description: 'Why it was DECLINED, such as `INSUFFICIENT_FUNDS`' })
  declineReason?: string;
  @ApiPropertyOptional({ description: 'Why an adjustment was made, such as `refund, ticket 4711`' })
  reason?: string;
  @ApiPropertyOptional({ description: 'The ROLLBACK that has reversed it, or may still do so' })
  rollbackId?: string;
  @ApiProperty({ type: 'integer', example: 1, description: 'Number of attempts; 0 for a tombstone' })
  attempt: number;
  @ApiProperty({ format: 'date-time' })
  createdAt: Date;
  @ApiProperty({ format: 'date-time' })
  updatedAt: Date;
  @ApiPropertyOptional({
    format: 'date-time',
    description: 'When the resolver parked it for a person; kept after the decision',
  })
  parkedAt?: Date;
  @ApiPropertyOptional({ description: "Whether a person entered the operator's answer; absent if not" })
  settledByHand?: boolean;
  @ApiPropertyOptional({ enum: WIN_KINDS, description: 'Why a WIN is paid; only a WIN has it' })
  winKind?: WinKind;
  @ApiPropertyOptional({ description: "The provider's identifier of the promotion in which a WIN was won" })
  promotionRef?: string;
  @ApiPropertyOptional({
    type: 'integer',
    example: 99750,
    description: 'Minor units, as reported to the provider; absent if no outcome was reported',
  })
  balance?: number;
  @ApiPropertyOptional({ example: 'w-88121' })
  operatorTransactionId?: string;
  @ApiPropertyOptional({ example: 'https://rounds.acme.example/sandbox-slots/round-7?lang=en' })
  roundDetailsUrl?: string;
}

export const TRANSACTION_COLUMNS = columnsOf(TransactionItem);

export class TransactionListResponse extends listOf(TransactionItem) {}

/** The answer that the provider received at the end of an attempt that it had requested. */
export class ToldResponse {
  @ApiProperty({ type: 'integer', example: 200 })
  status: number;
  @ApiPropertyOptional({ example: 'OPERATOR_TIMED_OUT', description: 'X-Error-Code, if it was an error' })
  code?: string;
  @ApiPropertyOptional({ description: 'The stored answer, byte for byte' })
  body?: string;
}

const OPERATOR_STATUS = {
  type: 'integer',
  example: 200,
  description: "HTTP status of the operator's answer; absent if there was none",
} as const;

const OPERATOR_BODY = {
  description:
    "The operator's answer. A valid one is composed of the fields that the service reads (transactionId, status, " +
    'balance, reason, operatorTransactionId). An invalid one, such as the body of a 503, is cut off after 4 KiB; its ' +
    'line breaks and tabs are replaced by spaces, other control characters by U+FFFD',
} as const;

/** The origin of an answer that a person entered because the operator gave it by means other than its wallet. */
export class SettledByHandResponse {
  @ApiProperty({ example: 'ticket 4711 of the operator' })
  operatorReference: string;
  @ApiProperty({ description: 'Why it was settled by hand' })
  reason: string;
}

export class AttemptResponse {
  @ApiProperty({ type: 'integer', example: 1 })
  attempt: number;
  @ApiPropertyOptional({
    enum: ['provider', 'resolver', 'administrator'],
    description: 'Absent if the attempt left no record',
  })
  driver?: 'provider' | 'resolver' | 'administrator';
  @ApiPropertyOptional({ description: 'Also in its log lines and in the call to the operator' })
  requestId?: string;
  @ApiPropertyOptional({ format: 'date-time', description: 'When the operator was called' })
  startedAt?: string;
  @ApiPropertyOptional({
    type: 'integer',
    description: 'Time until the operator answered or the call was given up, in milliseconds',
  })
  durationMs?: number;
  @ApiProperty({
    enum: ['APPROVED', 'DECLINED', 'OPERATOR_TIMED_OUT', 'OPERATOR_UNAVAILABLE', 'IN_FLIGHT', 'LEASE_OVER'],
    description:
      'LEASE_OVER: its lease expired without an outcome, because its instance died or is suspended',
  })
  outcome: string;
  @ApiPropertyOptional({ type: 'integer', description: 'Minor units, as the operator reported it' })
  balance?: number;
  @ApiPropertyOptional({ description: "The operator's own reason for declining" })
  reason?: string;
  @ApiPropertyOptional()
  operatorTransactionId?: string;
  @ApiPropertyOptional({
    description: 'Why there was no valid answer, or which part of a valid one was ignored',
  })
  detail?: string;
  @ApiPropertyOptional({
    enum: [true],
    description: "No connection to the operator's wallet was made: the operator has received nothing",
  })
  notSent?: true;
  @ApiPropertyOptional(OPERATOR_STATUS)
  operatorStatus?: number;
  @ApiPropertyOptional(OPERATOR_BODY)
  operatorBody?: string;
  @ApiPropertyOptional({
    type: SettledByHandResponse,
    description: 'No operator was called: a person entered its answer',
  })
  settledByHand?: SettledByHandResponse;
  @ApiPropertyOptional({ type: ToldResponse })
  told?: ToldResponse;
}

export class OperatorRequestResponse {
  @ApiProperty({
    enum: ['/transaction', '/balance'],
    description: '`/balance`: the platform decided by its own rules, and no money moved',
  })
  route: '/transaction' | '/balance';
  @ApiProperty({ type: Object, description: 'Fixed by the first attempt, and the same in all others' })
  body: object;
}

export class TimelineEntry {
  @ApiProperty({ format: 'date-time' })
  at: string;
  @ApiProperty({
    enum: [
      'requested',
      'operator-called',
      'operator-answered',
      'operator-silent',
      'provider-told',
      'settled-by-hand',
      'lease-over',
      'parked',
      'rollback-requested',
      'rollback-settled',
      'rolled-back',
    ],
  })
  event: string;
  @ApiProperty({ description: 'The event in words', example: 'attempt 1: APPROVED, balance 997.50 EUR' })
  text: string;
  @ApiPropertyOptional(OPERATOR_STATUS)
  operatorStatus?: number;
  @ApiPropertyOptional(OPERATOR_BODY)
  operatorBody?: string;
}

class TransactionHistory {
  @ApiPropertyOptional({
    enum: ['APPROVED', 'DECLINED'],
    description: "The outcome that follows from the platform's rules alone: no money moved",
  })
  verdict?: 'APPROVED' | 'DECLINED';
  @ApiPropertyOptional({
    description: 'The stored answer; a ROLLED_BACK transaction keeps it, but it is no longer sent',
  })
  responseBody?: string;
  @ApiPropertyOptional({ format: 'date-time', description: 'End of the lease of the attempt in flight' })
  leaseUntil?: Date;
  @ApiPropertyOptional({
    type: OperatorRequestResponse,
    description: 'Absent for a tombstone, for which no operator was called',
  })
  operatorRequest?: OperatorRequestResponse;
  @ApiProperty({
    type: [AttemptResponse],
    description: 'Oldest first; a long history has only its beginning and its end',
  })
  attempts: AttemptResponse[];
}

/**
 * A transaction with its history, but without its ROLLBACK. A `TransactionDetail` adds the ROLLBACK, in the same form.
 */
export class TransactionStory extends IntersectionType(TransactionItem, TransactionHistory) {}

export class AdviceResponse implements Advice {
  @ApiProperty({ enum: ADVISED_ACTIONS, example: 'none' })
  action: Advice['action'];
  @ApiProperty({
    example: 'The operator debited 2.50 EUR.',
    description: 'Whether money moved, and what the action would do',
  })
  text: string;
}

export class TransactionDetail extends TransactionStory {
  @ApiProperty({
    type: TransactionStory,
    nullable: true,
    description: 'The relevant ROLLBACK: the one that marks the transaction, else the newest that names it',
  })
  rollback: TransactionStory | null;
  @ApiProperty({ type: [TimelineEntry], description: 'Oldest first' })
  timeline: TimelineEntry[];
  @ApiProperty({ description: 'What the desk should do; nothing is done automatically' })
  advice: AdviceResponse;
}
