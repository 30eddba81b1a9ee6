import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

export const FOUND_TYPES = [
  'transaction',
  'round',
  'session',
  'player',
  'grant',
  'batch',
  'approval',
  'request',
] as const;

/** Something that an id names. */
export class SearchItem {
  @ApiProperty({ enum: FOUND_TYPES, example: 'player' })
  type: (typeof FOUND_TYPES)[number];
  @ApiProperty({
    example: 'player-42',
    description: 'By which `href` knows it: of a grant its requestRef, of a batch its batchId',
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
    description: 'When it was created; of a player, when something of theirs was last',
  })
  at: Date;
  @ApiProperty({ example: '/v1/admin/sessions?playerRef=player-42', description: 'The route that shows it' })
  href: string;
}

export class SearchResponse {
  @ApiProperty({ type: [SearchItem], description: 'Newest first, at most 50' })
  items: SearchItem[];
}
