import { IdentifierField, QueryChoiceField } from '../../http/validation/fields.js';
import { TimePageQuery } from '../../http/lists/time-page.js';
import type { State } from '../rules/facts.js';

export const STATES = [
  'PENDING',
  'APPROVED',
  'DECLINED',
  'TIMED_OUT',
  'ROLLED_BACK',
] as const satisfies State[];

/** Contract, section 7. What is left out restricts nothing. */
export class TransactionQuery extends TimePageQuery {
  @IdentifierField({
    presence: 'optional',
    example: 'sandbox-provider',
    description: '`platform`: adjustments',
  })
  providerId?: string;

  @IdentifierField({ presence: 'optional', example: 'sandbox-operator' })
  operatorId?: string;

  @IdentifierField({ presence: 'optional', example: 'player-42' })
  playerRef?: string;

  @IdentifierField({ presence: 'optional', example: 'round-7' })
  roundId?: string;

  @QueryChoiceField(STATES, { description: 'TIMED_OUT: what nobody knows yet' })
  state?: State;
}
