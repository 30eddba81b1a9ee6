import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  CurrencyField,
  IdentifierField,
  IntegerField,
  OwnIdentifierField,
  TextField,
} from '../../api/validation/fields.js';

/** Contract, section 7. */
export class AdjustmentRequest {
  @OwnIdentifierField({ example: 'adjustment-4711', description: 'Makes the call idempotent, for ever' })
  adjustmentId: string;

  @IdentifierField({ example: 'sandbox-operator' })
  operatorId: string;

  @IdentifierField({ example: 'player-42' })
  playerRef: string;

  @CurrencyField()
  currency: string;

  @IntegerField({
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
    except: 0,
    example: 250,
    description: 'Minor units, signed: positive credits the player, negative debits; not 0',
  })
  amountMinor: number;

  @TextField({ longest: 500, notBlank: true, example: 'refund of a disputed round, ticket 4711' })
  reason: string;
}

export class AdjustmentResponse {
  @ApiProperty({ example: 'adjustment-4711' })
  adjustmentId: string;
  @ApiProperty({ format: 'uuid' })
  platformTransactionId: string;
  @ApiProperty({ enum: ['APPROVED', 'DECLINED'] })
  status: 'APPROVED' | 'DECLINED';
  @ApiProperty({
    type: 'integer',
    example: 99750,
    description: 'Minor units, as the operator reported it when it decided',
  })
  balance: number;
  @ApiPropertyOptional({ description: 'Why it was DECLINED, such as `INSUFFICIENT_FUNDS`' })
  declineReason?: string;
  @ApiProperty({ example: 'sandbox-operator' })
  operatorId: string;
  @ApiProperty({ example: 'player-42' })
  playerRef: string;
  @ApiProperty({ example: 'EUR' })
  currency: string;
  @ApiProperty({ type: 'integer', example: 250 })
  amountMinor: number;
  @ApiProperty({ example: 'refund of a disputed round, ticket 4711' })
  reason: string;
}
