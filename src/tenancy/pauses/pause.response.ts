import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { columnsOf } from '../../api/lists/item.js';
import { listOf } from '../../api/lists/list.js';
import { PAUSED_KINDS, type PausedKind } from './pause.entity.js';

export class PauseResponse {
  @ApiProperty({ example: 'the wallet is being moved' })
  reason: string;

  @ApiPropertyOptional({
    type: Date,
    description: 'absent if only a resume ends the pause',
    example: '2026-01-31T06:00:00.000Z',
  })
  until?: Date;

  @ApiProperty()
  pausedAt: Date;

  @ApiProperty({ example: 'key:0b7c3c1e-52a1-4c0b-9d38-6a0f3f6f2d11' })
  by: string;

  @ApiPropertyOptional({ example: 'Night shift' })
  byName?: string;
}

/** A pause in the list of all pauses. */
export class PauseItem {
  @ApiProperty({ enum: PAUSED_KINDS, example: 'GAME' })
  kind: PausedKind;

  @ApiProperty({ example: 'book-of-examples', description: 'The id of the operator, provider or game' })
  id: string;

  @ApiProperty({ example: 'the wallet is being moved' })
  reason: string;

  @ApiProperty({ description: 'When the pause began' })
  since: Date;

  @ApiPropertyOptional({ type: Date, description: 'absent if only a resume ends the pause' })
  until?: Date;

  @ApiProperty({ example: 'key:0b7c3c1e-52a1-4c0b-9d38-6a0f3f6f2d11' })
  by: string;
}

export const PAUSE_COLUMNS = columnsOf(PauseItem);

export class PauseListResponse extends listOf(PauseItem) {}
