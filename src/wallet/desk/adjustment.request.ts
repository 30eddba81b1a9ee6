import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsInt, Matches, Max, Min, NotEquals } from 'class-validator';
import { IsCurrency, IsIdentifier } from '../../http/identifier.js';

/** PostgreSQL stores no NUL, and half a surrogate pair is no character. */
const REASON = /^(?=.*\S)[^\p{Cc}\p{Cs}]{1,500}$/u;
/** Ids that begin so are the platform's own. Contract, section 3. */
const NOT_THE_PLATFORMS = /^(?!croupier-)/;

/** Contract, section 7. */
export class AdjustmentRequest {
  @ApiProperty({
    example: 'adjustment-4711',
    maxLength: 128,
    description: 'Makes the call idempotent, for ever',
  })
  @Matches(NOT_THE_PLATFORMS, { message: 'adjustmentId must not begin with croupier-' })
  @IsIdentifier()
  adjustmentId: string;

  @ApiProperty({ example: 'sandbox-operator' })
  @IsIdentifier()
  operatorId: string;

  @ApiProperty({ example: 'player-42', maxLength: 128 })
  @IsIdentifier()
  playerRef: string;

  @ApiProperty({ example: 'EUR', pattern: '^[A-Z]{3}$' })
  @IsCurrency()
  currency: string;

  @ApiProperty({
    type: 'integer',
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
    example: -250,
    description: 'Minor units, signed: what the player gets, or is taken; not 0',
  })
  @NotEquals(0)
  @Max(Number.MAX_SAFE_INTEGER)
  @Min(Number.MIN_SAFE_INTEGER)
  @IsInt()
  amountMinor: number;

  @ApiProperty({ example: 'refund of a disputed round, ticket 4711', minLength: 1, maxLength: 500 })
  @Matches(REASON, { message: 'reason must be 1 to 500 characters, control characters not among them' })
  reason: string;
}

export class AdjustmentResponse {
  @ApiProperty({ example: 'adjustment-4711' })
  adjustmentId: string;
  @ApiProperty({ format: 'uuid' })
  platformTransactionId: string;
  @ApiProperty({ enum: ['APPROVED', 'DECLINED'] })
  status: 'APPROVED' | 'DECLINED';
  @ApiProperty({ type: 'integer', example: 99750, description: 'Minor units, as the operator named it then' })
  balance: number;
  @ApiPropertyOptional({ example: 'INSUFFICIENT_FUNDS' })
  declineReason?: string;
  @ApiProperty({ example: 'sandbox-operator' })
  operatorId: string;
  @ApiProperty({ example: 'player-42' })
  playerRef: string;
  @ApiProperty({ example: 'EUR' })
  currency: string;
  @ApiProperty({ type: 'integer', example: -250 })
  amountMinor: number;
  @ApiProperty({ example: 'refund of a disputed round, ticket 4711' })
  reason: string;
}
