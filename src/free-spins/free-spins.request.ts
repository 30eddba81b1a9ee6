import type { Type } from '@nestjs/common';
import {
  CurrencyField,
  IdentifierField,
  IdentifiersField,
  IntegerField,
  BooleanField,
  QueryChoiceField,
  UuidField,
} from '../api/validation/fields.js';
import { InstantField } from '../api/validation/instant.js';
import { OperatorTimePageQuery, TimePageQuery } from '../api/lists/time-page.js';
import type { GrantState } from './grants/grant.entity.js';

/** Contract, section 6. */
const MAX_SPINS = 1000;
const MAX_PLAYERS = 1000;

export const STATES = ['PENDING', 'GRANTED', 'FAILED', 'CANCELLED'] as const satisfies readonly GrantState[];

/** The fields that grants and batches have in common. */
class SpinsRequest {
  @IdentifierField({ example: 'sandbox-slots', description: 'Also determines the provider' })
  gameId: string;

  @IntegerField({ minimum: 1, maximum: MAX_SPINS, example: 10 })
  spins: number;

  @IntegerField({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    example: 20,
    description: "Stake of a spin in minor units; 0 means the provider's default stake",
  })
  betAmountMinor: number;

  @CurrencyField()
  currency: string;

  @InstantField('When the platform cancels the remaining spins, one minute to 366 days ahead', {
    presence: 'nullable',
    // A fixed time would soon be refused, and people send the examples.
    example: null,
  })
  expiresAt?: string | null;
}

class GrantRequest extends SpinsRequest {
  @IdentifierField({ example: 'player-42' })
  playerRef: string;
}

/** An operator's request for a grant. The requestRef is required, so that the request is idempotent. */
export class OperatorGrantRequest extends GrantRequest {
  @IdentifierField({ example: 'summer-2026-player-42', description: 'Makes the call idempotent' })
  requestRef: string;
}

export class AdminGrantRequest extends GrantRequest {
  @IdentifierField({ example: 'sandbox-operator' })
  operatorId: string;

  @IdentifierField({
    presence: 'nullable',
    example: 'summer-2026-player-42',
    description: 'Makes the call idempotent; without it each call is a new grant',
  })
  requestRef?: string | null;
}

class PlayersRequest extends SpinsRequest {
  @IdentifiersField({ most: MAX_PLAYERS, example: ['player-42', 'player-43'] })
  playerRefs: string[];
}

export class OperatorBatchRequest extends PlayersRequest {
  @IdentifierField({ example: 'summer-2026', description: 'Makes the call idempotent' })
  batchRef: string;
}

export class AdminBatchRequest extends PlayersRequest {
  @IdentifierField({ example: 'sandbox-operator' })
  operatorId: string;

  @IdentifierField({ presence: 'nullable', example: 'summer-2026', description: 'Makes the call idempotent' })
  batchRef?: string | null;
}

/** Adds the filters of a list of grants. */
function withGrantFilters<Page extends Type<object>>(page: Page) {
  class GrantFilters extends page {
    @QueryChoiceField(STATES)
    state?: GrantState;

    @IdentifierField({ presence: 'optional', example: 'sandbox-provider' })
    providerId?: string;

    @IdentifierField({ presence: 'optional', example: 'player-42' })
    playerRef?: string;

    @IdentifierField({ presence: 'optional', example: 'sandbox-slots' })
    gameId?: string;

    @UuidField({ presence: 'optional', description: 'the grants of a batch' })
    batchId?: string;
  }
  return GrantFilters;
}

export class OperatorGrantQuery extends withGrantFilters(OperatorTimePageQuery) {}

export class AdminGrantQuery extends withGrantFilters(TimePageQuery) {
  @IdentifierField({ presence: 'optional', example: 'sandbox-operator' })
  operatorId?: string;
}

/** Adds the filter of a list of batches. */
function withBatchFilter<Page extends Type<object>>(page: Page) {
  class BatchFilter extends page {
    @IdentifierField({ presence: 'optional', example: 'sandbox-slots' })
    gameId?: string;
  }
  return BatchFilter;
}

export class OperatorBatchQuery extends withBatchFilter(OperatorTimePageQuery) {}

export class AdminBatchQuery extends withBatchFilter(TimePageQuery) {
  @IdentifierField({ presence: 'optional', example: 'sandbox-operator' })
  operatorId?: string;
}

/** Contract, section 9, "Batches". */
export class FindBatchQuery {
  @QueryChoiceField(['true', 'false'], { default: 'true', description: 'false: only the counts' })
  items?: 'true' | 'false';
}

export class ResendBatchRequest {
  @BooleanField({
    presence: 'optional',
    default: false,
    description: 'also sends grants whose outcome is unknown, which the provider may already have booked',
  })
  includeUnknown?: boolean;
}

export class FlaggedWinQuery extends TimePageQuery {
  @IdentifierField({ presence: 'optional', example: 'sandbox-operator' })
  operatorId?: string;
}
