import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { columnsOf } from '../../api/lists/item.js';

const FOUND_TYPES = [
  'transaction',
  'round',
  'session',
  'player',
  'grant',
  'batch',
  'approval',
  'request',
] as const;

/** A record that the id identifies. */
export class SearchItem {
  @ApiProperty({ enum: FOUND_TYPES, example: 'player' })
  type: (typeof FOUND_TYPES)[number];
  @ApiProperty({
    example: 'player-42',
    description: 'The id in `href`: the requestRef of a grant, the batchId of a batch',
  })
  id: string;
  @ApiPropertyOptional({ example: 'sandbox-operator' })
  operatorId?: string;
  @ApiPropertyOptional({ example: 'sandbox-provider', description: '`platform` for an adjustment' })
  providerId?: string;
  @ApiPropertyOptional({ example: 'player-42' })
  playerRef?: string;
  @ApiProperty({
    format: 'date-time',
    description: 'When it was created; for a player, when their newest record was created',
  })
  at: Date;
  @ApiProperty({ example: '/v1/admin/sessions?playerRef=player-42', description: 'The route that shows it' })
  href: string;
}

export const SEARCH_COLUMNS = columnsOf(SearchItem);

export class SearchResponse {
  @ApiProperty({ type: [SearchItem], description: 'Newest first, at most 50' })
  items: SearchItem[];
}
