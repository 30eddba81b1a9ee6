import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsIn,
  IsInt,
  IsOptional,
  Max,
  Min,
} from 'class-validator';
import { IsCurrency, IsIdentifier } from '../http/identifier.js';
import { PageQuery } from '../http/page.js';
import type { GrantState } from './grant.entity.js';

/** Contract, section 6. */
const MOST_SPINS = 1000;
const MOST_PLAYERS = 1000;

export const STATES = ['PENDING', 'GRANTED', 'FAILED', 'CANCELLED'] as const satisfies readonly GrantState[];

/** What every grant and batch says of the spins. */
class SpinsRequest {
  @ApiProperty({ example: 'sandbox-slots', maxLength: 128, description: 'Names the provider as well' })
  @IsIdentifier()
  gameId: string;

  @ApiProperty({ type: 'integer', minimum: 1, maximum: MOST_SPINS, example: 10 })
  @Max(MOST_SPINS)
  @Min(1)
  @IsInt()
  spins: number;

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    example: 20,
    description: "Stake of a spin in minor units; 0: the provider's default stake",
  })
  @Max(Number.MAX_SAFE_INTEGER)
  @Min(0)
  @IsInt()
  betAmountMinor: number;

  @ApiProperty({ example: 'EUR', pattern: '^[A-Z]{3}$' })
  @IsCurrency()
  currency: string;
}

class GrantRequest extends SpinsRequest {
  @ApiProperty({ example: 'player-42', maxLength: 128 })
  @IsIdentifier()
  playerRef: string;
}

/** An operator's grant: its requestRef makes it idempotent. */
export class OperatorGrantRequest extends GrantRequest {
  @ApiProperty({ example: 'summer-2026-player-42', maxLength: 128, description: 'Makes the call idempotent' })
  @IsIdentifier()
  requestRef: string;
}

export class AdminGrantRequest extends GrantRequest {
  @ApiProperty({ example: 'sandbox-operator', maxLength: 128 })
  @IsIdentifier()
  operatorId: string;

  @ApiPropertyOptional({
    example: 'summer-2026-player-42',
    maxLength: 128,
    description: 'Makes the call idempotent; without it each call is a grant of its own',
  })
  @IsOptional()
  @IsIdentifier()
  requestRef?: string;
}

class PlayersRequest extends SpinsRequest {
  @ApiProperty({
    type: [String],
    example: ['player-42', 'player-43'],
    minItems: 1,
    maxItems: MOST_PLAYERS,
    uniqueItems: true,
  })
  @IsIdentifier({
    each: true,
    message: 'each of playerRefs must be 1 to 128 printable ASCII characters without spaces',
  })
  @ArrayUnique({ message: 'playerRefs must be different ones' })
  @ArrayMaxSize(MOST_PLAYERS)
  @ArrayMinSize(1)
  @IsArray()
  playerRefs: string[];
}

export class OperatorBatchRequest extends PlayersRequest {
  @ApiProperty({ example: 'summer-2026', maxLength: 128, description: 'Makes the call idempotent' })
  @IsIdentifier()
  batchRef: string;
}

export class AdminBatchRequest extends PlayersRequest {
  @ApiProperty({ example: 'sandbox-operator', maxLength: 128 })
  @IsIdentifier()
  operatorId: string;

  @ApiPropertyOptional({ example: 'summer-2026', maxLength: 128, description: 'Makes the call idempotent' })
  @IsOptional()
  @IsIdentifier()
  batchRef?: string;
}

export class OperatorGrantQuery extends PageQuery {
  @ApiPropertyOptional({ enum: STATES })
  @IsOptional()
  @IsIn(STATES)
  state?: GrantState;

  @ApiPropertyOptional({ example: 'sandbox-provider' })
  @IsOptional()
  @IsIdentifier()
  providerId?: string;

  @ApiPropertyOptional({ example: 'player-42' })
  @IsOptional()
  @IsIdentifier()
  playerRef?: string;

  @ApiPropertyOptional({ example: 'sandbox-slots' })
  @IsOptional()
  @IsIdentifier()
  gameId?: string;
}

export class AdminGrantQuery extends OperatorGrantQuery {
  @ApiPropertyOptional({ example: 'sandbox-operator' })
  @IsOptional()
  @IsIdentifier()
  operatorId?: string;
}
