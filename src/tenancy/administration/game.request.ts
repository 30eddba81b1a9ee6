import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';
import { field } from '../../api/validation/fields.js';
import { type Columns, listOf } from '../../api/lists/list.js';
import { Name, PRINTABLE, PRINTABLE_SCHEMA, StatusField, TenantId } from './tenant.request.js';
import {
  isRoundDetailsUrl,
  ROUND_DETAILS_PLACEHOLDERS,
  ROUND_DETAILS_URL_LENGTH,
} from '../round-details-url.js';
import { BEYOND_PATTERN } from '../../api/validation/schema-extensions.js';
import { PauseResponse } from '../pauses/pause.request.js';
import type { Status } from '../tenant.entity.js';

const ROUND_DETAILS_WORDS =
  `an https address of at most ${ROUND_DETAILS_URL_LENGTH} printable characters, with no braces but those of ` +
  `${ROUND_DETAILS_PLACEHOLDERS}, and none in its host`;

/** The whole game: an absent field is reset to its default. Contract, section 7. */
export class PutGameRequest {
  @TenantId('sandbox-provider')
  providerId: string;

  @Name('Book of Examples', 'required')
  name: string;

  @StatusField('ACTIVE if it is absent')
  status?: Status;

  @field(
    { ...PRINTABLE_SCHEMA, format: 'uri' },
    {
      presence: 'nullable',
      example: 'https://play.acme.example/book',
      description:
        "an absolute http(s) address for the player's browser; a launch adds the query parameter `sessionToken`",
    },
    ValidateBy({
      name: 'isLaunchUrl',
      validator: {
        validate: isLaunchUrl,
        defaultMessage: () =>
          '$property must be an absolute http(s) address of at most 2048 printable characters',
      },
    }),
  )
  launchUrl?: string | null;

  @field(
    {
      type: 'string',
      minLength: 1,
      maxLength: ROUND_DETAILS_URL_LENGTH,
      pattern: '^[!-~]+$',
      [BEYOND_PATTERN]: ROUND_DETAILS_WORDS,
    },
    {
      presence: 'nullable',
      example: 'https://rounds.acme.example/{gameId}/{roundId}?lang={language}',
      description:
        'the address at which people see a round, with placeholders for its percent-encoded values: the address ' +
        'stands at each round and transaction of the game',
    },
    ValidateBy({
      name: 'isRoundDetailsUrl',
      validator: {
        validate: isRoundDetailsUrl,
        defaultMessage: () => `$property must be ${ROUND_DETAILS_WORDS}`,
      },
    }),
  )
  roundDetailsUrl?: string | null;
}

/** Checks only the form of the address, because only the player's browser opens it. */
function isLaunchUrl(value: unknown): boolean {
  return (
    typeof value === 'string' &&
    PRINTABLE.test(value) &&
    URL.canParse(value) &&
    ['https:', 'http:'].includes(new URL(value).protocol)
  );
}

export class GameResponse {
  @ApiProperty({ example: 'book-of-examples' })
  gameId: string;

  @ApiProperty({ example: 'sandbox-provider' })
  providerId: string;

  @ApiProperty({ example: 'Book of Examples' })
  name: string;

  @ApiProperty({ enum: ['ACTIVE', 'DISABLED'] })
  status: Status;

  @ApiPropertyOptional({ type: PauseResponse, description: 'absent: not paused' })
  pause?: PauseResponse;

  @ApiPropertyOptional({ example: 'https://play.acme.example/book' })
  launchUrl?: string;

  @ApiPropertyOptional({ example: 'https://rounds.acme.example/{gameId}/{roundId}?lang={language}' })
  roundDetailsUrl?: string;

  @ApiProperty()
  createdAt: Date;

  @ApiProperty()
  updatedAt: Date;
}

export const GAME_COLUMNS: Columns<GameResponse> = {
  gameId: true,
  providerId: true,
  name: true,
  status: true,
  launchUrl: true,
  roundDetailsUrl: true,
  createdAt: true,
  updatedAt: true,
  pause: true,
};

export class GameListResponse extends listOf(GameResponse) {}
