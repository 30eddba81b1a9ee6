import { IdentifierField, QueryChoiceField, QueryIntegerField } from '../../api/validation/fields.js';
import { TimePageQuery } from '../../api/lists/time-page.js';

/** Maximum of `olderThanMinutes`: ten years. */
const OLDEST_MINUTES = 10 * 366 * 24 * 60;

/** Contract, section 9, "Rounds". An absent filter restricts nothing. */
export class OperatorRoundQuery extends TimePageQuery {
  @QueryChoiceField(['true'], {
    description:
      'only rounds with an APPROVED BET, no APPROVED WIN other than a PROMOTION or TOURNAMENT, and no `roundClosed`',
  })
  open?: 'true';

  @QueryIntegerField({
    minimum: 0,
    maximum: OLDEST_MINUTES,
    example: 1440,
    description: 'only rounds that began longer ago than this, in minutes',
  })
  olderThanMinutes?: number;

  @IdentifierField({ presence: 'optional', example: 'sandbox-provider' })
  providerId?: string;

  @IdentifierField({ presence: 'optional', example: 'player-42' })
  playerRef?: string;

  @IdentifierField({ presence: 'optional', example: 'sandbox-slots' })
  gameId?: string;
}

export class RoundQuery extends OperatorRoundQuery {
  @IdentifierField({ presence: 'optional', example: 'sandbox-operator' })
  operatorId?: string;
}

/** Selects one of the rounds that share a roundId. Contract, section 9, "Rounds". */
export class OperatorFindRoundQuery {
  @IdentifierField({ presence: 'optional', example: 'player-42' })
  playerRef?: string;

  @IdentifierField({ presence: 'optional', example: 'sandbox-slots' })
  gameId?: string;

  @QueryChoiceField(['REAL', 'DEMO'], { default: 'REAL' })
  mode?: 'REAL' | 'DEMO';
}

export class FindRoundQuery extends OperatorFindRoundQuery {
  @IdentifierField({ presence: 'optional', example: 'sandbox-operator' })
  operatorId?: string;
}
