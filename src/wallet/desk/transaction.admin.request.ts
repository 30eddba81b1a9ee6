import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import { IsIdentifier } from '../../http/identifier.js';
import { TimePageQuery } from '../../http/time-page.js';
import type { State } from '../rules/facts.js';

const STATES = ['PENDING', 'APPROVED', 'DECLINED', 'TIMED_OUT', 'ROLLED_BACK'] as const satisfies State[];

/** Contract, section 7. What is left out restricts nothing. */
export class TransactionQuery extends TimePageQuery {
  @ApiPropertyOptional({ example: 'sandbox-provider', description: '`platform`: adjustments' })
  @IsOptional()
  @IsIdentifier()
  providerId?: string;

  @ApiPropertyOptional({ example: 'sandbox-operator' })
  @IsOptional()
  @IsIdentifier()
  operatorId?: string;

  @ApiPropertyOptional({ example: 'player-42' })
  @IsOptional()
  @IsIdentifier()
  playerRef?: string;

  @ApiPropertyOptional({ example: 'round-7' })
  @IsOptional()
  @IsIdentifier()
  roundId?: string;

  @ApiPropertyOptional({ enum: STATES, description: 'TIMED_OUT: what nobody knows yet' })
  @IsOptional()
  @IsIn(STATES)
  state?: State;
}
