import {
  ChoiceField,
  CurrencyField,
  IdentifierField,
  IntegerField,
  OpaqueField,
  PatternField,
  QueryChoiceField,
} from '../api/validation/fields.js';
import { BEYOND_PATTERN } from '../api/validation/schema-extensions.js';
import { TimePageQuery } from '../api/lists/time-page.js';
import { EXAMPLE_TOKEN } from '../openapi/examples.js';
import { REVOKE_REASONS, type RevokeReason } from './session.entity.js';

/** Bounds of the interval of reality checks, in seconds: a minute and a day. */
const SHORTEST_REALITY_CHECK_SECONDS = 60;
const LONGEST_REALITY_CHECK_SECONDS = 86_400;

/** Longest lifetime that an operator may request for a session, in seconds: a year. */
const TTL_LIMIT_SECONDS = 31_536_000;

export const TokenField = () =>
  OpaqueField({ description: 'The opaque token of the session', example: EXAMPLE_TOKEN });

/** The body of a provider's request to verify a session or to read the player's balance. */
export class SessionTokenRequest {
  @TokenField()
  sessionToken: string;
}

export class LaunchRequest {
  @IdentifierField({ example: 'player-42' })
  playerRef: string;

  @IdentifierField({ example: 'sandbox-slots', description: 'Also determines the provider' })
  gameId: string;

  @CurrencyField()
  currency: string;

  @ChoiceField(['REAL', 'DEMO'], { presence: 'nullable', default: 'REAL' })
  mode?: 'REAL' | 'DEMO' | null;

  @IntegerField({
    presence: 'nullable',
    minimum: 1,
    maximum: TTL_LIMIT_SECONDS,
    example: 3600,
    description: 'Lifetime in seconds; SESSION_TTL_SECONDS by default',
  })
  ttlSeconds?: number | null;

  @PatternField(/^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8}){0,3}$/, 'must be a language tag', {
    presence: 'nullable',
    example: 'en',
    description: 'A language tag such as en or pt-BR',
  })
  language?: string | null;

  @PatternField(/^[A-Z]{2}$/, 'must be 2 upper-case letters', {
    presence: 'nullable',
    example: 'DE',
    description: 'ISO 3166-1 alpha-2',
  })
  country?: string | null;

  @IntegerField({
    presence: 'nullable',
    minimum: 1,
    example: 100000,
    description: 'The highest stake of a BET, in minor units: a higher one is DECLINED `STAKE_ABOVE_LIMIT`',
  })
  maxBetMinor?: number | null;

  @PatternField(
    /^(?!\.{1,2}$)[!-~]{1,32}$/,
    'must be 1 to 32 printable ASCII characters without spaces',
    {
      presence: 'nullable',
      example: 'MT',
      description: 'The jurisdiction whose rules apply to the session; passed on to the provider',
    },
    { minLength: 1, maxLength: 32, pattern: '^[!-~]+$', [BEYOND_PATTERN]: 'not `.` or `..`' },
  )
  jurisdiction?: string | null;

  @IntegerField({
    presence: 'nullable',
    minimum: SHORTEST_REALITY_CHECK_SECONDS,
    maximum: LONGEST_REALITY_CHECK_SECONDS,
    example: 3600,
    description: 'How often the game reminds the player of the time and money spent, in seconds',
  })
  realityCheckSeconds?: number | null;
}

export class RevokeRequest {
  @ChoiceField(REVOKE_REASONS)
  reason: RevokeReason;
}

/** Contract, sections 5 and 7. An absent filter restricts nothing. */
export class OperatorSessionQuery extends TimePageQuery {
  @IdentifierField({ presence: 'optional', example: 'sandbox-provider' })
  providerId?: string;

  @IdentifierField({ presence: 'optional', example: 'player-42' })
  playerRef?: string;

  @IdentifierField({ presence: 'optional', example: 'sandbox-slots' })
  gameId?: string;

  @QueryChoiceField(['true', 'false'], {
    description: '`true`: only revoked sessions; `false`: only the others',
  })
  revoked?: 'true' | 'false';
}

export class SessionQuery extends OperatorSessionQuery {
  @IdentifierField({ presence: 'optional', example: 'sandbox-operator' })
  operatorId?: string;
}
