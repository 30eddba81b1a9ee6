import { ApiProperty, ApiPropertyOptional, IntersectionType, OmitType, PickType } from '@nestjs/swagger';
import { answerOf } from '../api/answer.js';
import { RoundDetail } from './rounds/round.admin.response.js';
import {
  AttemptResponse,
  TimelineEntry,
  ToldResponse,
  TransactionDetail,
  TransactionItem,
  TransactionStory,
} from './transactions/transaction.admin.response.js';

/*
 * What an operator sees of its own transactions and rounds: no advice, and no stored body of a call or an answer. A new
 * field of the administrators' details stays hidden until it is picked here.
 */

class OwnTold extends PickType(ToldResponse, ['status', 'code'] as const) {}

class OwnAttempt extends PickType(AttemptResponse, [
  'attempt',
  'driver',
  'requestId',
  'startedAt',
  'durationMs',
  'outcome',
  'balance',
  'reason',
  'operatorTransactionId',
  'detail',
  'notSent',
  'operatorStatus',
  'settledByHand',
] as const) {
  @ApiPropertyOptional({
    type: OwnTold,
    description: 'The answer that the provider received after the attempt',
  })
  told?: OwnTold;
}

class OwnTimelineEntry extends PickType(TimelineEntry, ['at', 'event', 'text', 'operatorStatus'] as const) {}

class OwnTransactionStory extends IntersectionType(
  TransactionItem,
  PickType(TransactionStory, ['verdict', 'leaseUntil'] as const),
) {
  @ApiProperty({
    type: [OwnAttempt],
    description: 'Oldest first; a long history has only its beginning and its end',
  })
  attempts: OwnAttempt[];
}

export class OwnTransactionDetail extends OwnTransactionStory {
  @ApiProperty({
    type: OwnTransactionStory,
    nullable: true,
    description: 'The relevant ROLLBACK: the one that marks the transaction, else the newest that names it',
  })
  rollback: OwnTransactionStory | null;
  @ApiProperty({ type: [OwnTimelineEntry], description: 'Oldest first' })
  timeline: OwnTimelineEntry[];
}

export class OwnRoundDetail extends OmitType(RoundDetail, ['advice'] as const) {}

export function ownTransactionDetail({
  rollback,
  timeline,
  ...story
}: TransactionDetail): OwnTransactionDetail {
  return {
    ...ownStory(story),
    rollback: rollback && ownStory(rollback),
    timeline: timeline.map((entry) => answerOf(OwnTimelineEntry, entry)),
  };
}

function ownStory({ attempts, ...story }: TransactionStory): OwnTransactionStory {
  return { ...answerOf(OwnTransactionStory, story), attempts: attempts.map(ownAttempt) };
}

function ownAttempt({ told, ...attempt }: AttemptResponse): OwnAttempt {
  return { ...answerOf(OwnAttempt, attempt), ...(told && { told: answerOf(OwnTold, told) }) };
}

export function ownRoundDetail(detail: RoundDetail): OwnRoundDetail {
  return answerOf(OwnRoundDetail, detail);
}
