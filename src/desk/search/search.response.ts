import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { columnsOf, itemFrom, type RowOf } from '../../api/lists/item.js';

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

/** A found record, with the fields from which its `href` is built. A field that does not apply is null. */
export interface FoundRow extends RowOf<Omit<SearchItem, 'href'>> {
  /** For a round: its game and mode. */
  readonly gameId: string | null;
  readonly mode: string | null;
  /** For a request: the transaction of its attempt; null if it was found by an audit entry or a callback. */
  readonly transactionId: string | null;
  /** For a request: the callback that it caused. */
  readonly callbackId: string | null;
}

export function searchItem(row: FoundRow): SearchItem {
  return itemFrom(SEARCH_COLUMNS, { ...row, href: hrefOf(row) });
}

/** The admin route that shows a found record. */
function hrefOf(found: FoundRow): string {
  const { type, id, operatorId, providerId, playerRef, gameId, mode, transactionId, callbackId } = found;
  switch (type) {
    case 'transaction':
      return path('transactions', providerId, id);
    case 'round':
      return path('rounds', providerId, id) + query({ operatorId, playerRef, gameId, mode });
    case 'session':
      return path('sessions', id);
    case 'player':
      return path('transactions') + query({ operatorId, playerRef });
    case 'grant':
      return path('free-spins', id);
    case 'batch':
      return path('free-spins', 'batches', id);
    case 'approval':
      return path('approvals', id);
    case 'request':
      if (callbackId !== null) return path('callbacks', callbackId);
      return transactionId === null
        ? path('audit') + query({ requestId: id })
        : path('transactions', providerId, transactionId);
  }
}

function path(...segments: (string | null)[]): string {
  return ['/v1/admin', ...segments.map((segment) => encodeURIComponent(segment ?? ''))].join('/');
}

function query(parameters: Readonly<Record<string, string | null>>): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== null);
  return `?${new URLSearchParams(given).toString()}`;
}
