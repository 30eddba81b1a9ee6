import { ValidateBy } from 'class-validator';
import { field } from '../../api/validation/fields.js';
import { Name, PRINTABLE, PRINTABLE_SCHEMA, StatusField, TenantId } from './tenant.request.js';
import {
  isRoundDetailsUrl,
  ROUND_DETAILS_PLACEHOLDERS,
  ROUND_DETAILS_URL_LENGTH,
} from '../round-details-url.js';
import { BEYOND_PATTERN } from '../../api/validation/schema-extensions.js';
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
