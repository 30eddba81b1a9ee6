import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { columnsOf } from '../../api/lists/item.js';
import { listOf } from '../../api/lists/list.js';
import { PauseResponse } from '../pauses/pause.response.js';
import type { Status } from '../tenant.entity.js';

export class GameResponse {
  @ApiProperty({ example: 'book-of-examples' })
  gameId: string;

  @ApiProperty({ example: 'sandbox-provider' })
  providerId: string;

  @ApiProperty({ example: 'Book of Examples' })
  name: string;

  @ApiProperty({ enum: ['ACTIVE', 'DISABLED'] })
  status: Status;

  @ApiPropertyOptional({ example: 'https://play.acme.example/book' })
  launchUrl?: string;

  @ApiPropertyOptional({ example: 'https://rounds.acme.example/{gameId}/{roundId}?lang={language}' })
  roundDetailsUrl?: string;

  @ApiProperty()
  createdAt: Date;

  @ApiProperty()
  updatedAt: Date;

  @ApiPropertyOptional({ type: PauseResponse, description: 'absent: not paused' })
  pause?: PauseResponse;
}

export const GAME_COLUMNS = columnsOf(GameResponse);

export class GameListResponse extends listOf(GameResponse) {}
