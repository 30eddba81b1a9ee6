import { ApiProperty, ApiPropertyOptional, PickType } from '@nestjs/swagger';
import { listOf } from '../../api/lists/list.js';
import { columnsOf } from '../../api/lists/item.js';
import { AdviceResponse, TransactionItem } from '../transactions/transaction.admin.response.js';

const AS_TOLD = 'in minor units, according to the last answers to the provider; absent above 2^53−1';

/** A round in a list. */
export class RoundItem {
  @ApiProperty({ example: 'sandbox-provider' })
  providerId: string;
  @ApiProperty({ example: 'round-7' })
  roundId: string;
  @ApiProperty({ example: 'sandbox-operator' })
  operatorId: string;
  @ApiProperty({ example: 'player-42' })
  playerRef: string;
  @ApiProperty({ example: 'sandbox-slots' })
  gameId: string;
  @ApiProperty({ enum: ['REAL', 'DEMO'] })
  mode: 'REAL' | 'DEMO';
  @ApiProperty({
    description:
      'It has an APPROVED BET, no APPROVED WIN other than a PROMOTION or TOURNAMENT, and no `roundClosed`',
  })
  open: boolean;
  @ApiProperty({ type: 'integer', example: 1, description: 'Number of its transactions' })
  transactions: number;
  @ApiProperty({
    type: 'integer',
    example: 0,
    description: 'Number of its transactions that are PENDING or TIMED_OUT',
  })
  undecided: number;
  @ApiProperty({
    example: 'EUR',
    description: 'The currency of the transaction that began it, and of the sums',
  })
  currency: string;
  @ApiPropertyOptional({ type: 'integer', example: 250, description: `The BETs, ${AS_TOLD}` })
  betMinor?: number;
  @ApiPropertyOptional({ type: 'integer', example: 0, description: `The WINs, ${AS_TOLD}` })
  winMinor?: number;
  @ApiPropertyOptional({ type: 'integer', example: -250, description: `WINs − BETs, ${AS_TOLD}` })
  netMinor?: number;
  @ApiPropertyOptional({ example: 'https://rounds.acme.example/sandbox-slots/round-7?lang=en' })
  roundDetailsUrl?: string;
  @ApiProperty({
    format: 'date-time',
    description: 'When it began: its first BET or, without one, its first WIN',
  })
  createdAt: Date;
}

export const ROUND_COLUMNS = columnsOf(RoundItem);

export class RoundListResponse extends listOf(RoundItem) {}

const BEYOND = 'Minor units; absent above 2^53−1';

export class BetsAndWinsResponse {
  @ApiPropertyOptional({ type: 'integer', example: 250, description: BEYOND })
  betMinor?: number;
  @ApiPropertyOptional({ type: 'integer', example: 0, description: BEYOND })
  winMinor?: number;
  @ApiPropertyOptional({ type: 'integer', example: -250, description: `WINs − BETs. ${BEYOND}` })
  netMinor?: number;
}

export class RoundSumsResponse {
  @ApiProperty({ example: 'EUR' })
  currency: string;
  @ApiProperty({ description: 'According to the last answers to the provider' })
  told: BetsAndWinsResponse;
  @ApiProperty({ description: "According to the operator's answers" })
  operator: BetsAndWinsResponse;
  @ApiProperty({
    description:
      'The amounts that are PENDING or TIMED_OUT. An undecided ROLLBACK of an APPROVED BET counts as a BET with a negative amount',
  })
  unknown: BetsAndWinsResponse;
}

/** A round with its transactions and their sums. */
export class RoundDetail extends PickType(RoundItem, [
  'providerId',
  'roundId',
  'operatorId',
  'playerRef',
  'gameId',
  'mode',
  'open',
  'currency',
  'betMinor',
  'winMinor',
  'netMinor',
  'roundDetailsUrl',
] as const) {
  @ApiProperty({ type: [TransactionItem], description: 'Oldest first' })
  items: TransactionItem[];
  @ApiPropertyOptional({
    enum: [true],
    description:
      'The round has more than 1,000 transactions: `items` and `advice` cover the oldest 1,000, `open` and `sums` the ' +
      'oldest 50,000',
  })
  truncated?: true;
  @ApiProperty({
    type: [RoundSumsResponse],
    description:
      'One for each currency. Rolled-back BETs are left out, but `told` includes one if the provider last received ' +
      'APPROVED for it, and has not received APPROVED for its ROLLBACK',
  })
  sums: RoundSumsResponse[];
  @ApiProperty({ description: 'What the desk should do; nothing is done automatically' })
  advice: AdviceResponse;
}
