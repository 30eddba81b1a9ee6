import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  IsBoolean,
  IsIn,
  IsInt,
  IsNotIn,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
  MinLength,
  ValidateIf,
} from 'class-validator';
import { IsCurrency, IsIdentifier } from '../http/identifier.js';
import { EXAMPLE_TOKEN } from '../session/session.request.js';
import type { Kind } from './rules/facts.js';

const KINDS = ['BET', 'WIN', 'ROLLBACK'] as const satisfies readonly Kind[];

/** Ids that begin so are the platform's own. Contract, section 3. */
const NOT_THE_PLATFORMS = /^(?!croupier-)/;

/** What a provider submits. Contract, section 3, "TransactionRequest". */
export class TransactionRequest {
  @ApiProperty({
    description: 'The opaque token of the session',
    minLength: 1,
    example: EXAMPLE_TOKEN,
  })
  @IsString()
  @MinLength(1)
  sessionToken: string;

  @ApiProperty({
    example: 'bet-1001',
    maxLength: 128,
    description: "The provider's own id, used once for ever",
  })
  @Matches(NOT_THE_PLATFORMS, { message: 'transactionId must not begin with croupier-' })
  @IsIdentifier()
  transactionId: string;

  @ApiProperty({ enum: KINDS })
  @IsIn(KINDS)
  @IsNotIn(['ADJUSTMENT'], { context: { code: 'KIND_NOT_ACCEPTED' } })
  kind: Kind;

  @ApiProperty({ example: 'player-42', maxLength: 128 })
  @IsIdentifier()
  playerRef: string;

  @ApiProperty({ example: 'sandbox-slots', maxLength: 128 })
  @IsIdentifier()
  gameId: string;

  @ApiProperty({ example: 'EUR', pattern: '^[A-Z]{3}$' })
  @IsCurrency()
  currency: string;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    example: 250,
    description: "Minor units. Only a ROLLBACK may leave it out; if sent, it must equal the original's.",
  })
  @ValidateIf((request: TransactionRequest) => request.kind !== 'ROLLBACK' || request.amountMinor != null)
  @Max(Number.MAX_SAFE_INTEGER)
  @Min(0)
  @IsInt()
  amountMinor?: number;

  @ApiProperty({ example: 'round-7', maxLength: 128 })
  @IsIdentifier()
  roundId: string;

  @ApiPropertyOptional({ description: 'Recorded and forwarded, never a reason to refuse' })
  @IsOptional()
  @IsBoolean()
  roundClosed?: boolean;

  @ApiPropertyOptional({ example: 'bet-1001', maxLength: 128, description: 'Required for a ROLLBACK' })
  @ValidateIf(
    (request: TransactionRequest) => request.kind === 'ROLLBACK' || request.originalTransactionId != null,
  )
  @IsIdentifier()
  originalTransactionId?: string;

  @ApiPropertyOptional({
    example: 'batch-77',
    maxLength: 128,
    description: "The free-spin batch's externalRef that a WIN belongs to",
  })
  @IsOptional()
  @IsIdentifier()
  freeSpinsRef?: string;
}

const ROUND = {
  sessionToken: EXAMPLE_TOKEN,
  playerRef: 'player-42',
  gameId: 'sandbox-slots',
  currency: 'EUR',
};

/** Worked: a round, and what undoes it. */
export const TRANSACTION_REQUESTS = {
  BET: {
    value: { ...ROUND, transactionId: 'bet-1001', kind: 'BET', amountMinor: 250, roundId: 'round-7' },
  },
  WIN: {
    value: {
      ...ROUND,
      ...{ transactionId: 'win-1001', kind: 'WIN', amountMinor: 500, roundId: 'round-7', roundClosed: true },
    },
  },
  ROLLBACK: {
    value: {
      ...ROUND,
      ...{
        transactionId: 'undo-1001',
        kind: 'ROLLBACK',
        originalTransactionId: 'bet-1001',
        roundId: 'round-7',
      },
    },
  },
};
