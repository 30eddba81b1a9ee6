import { TimePageQuery } from '../../http/lists/time-page.js';
import { IdentifierField } from '../../http/validation/fields.js';

export class FlaggedWinQuery extends TimePageQuery {
  @IdentifierField({ presence: 'optional', example: 'sandbox-operator' })
  operatorId?: string;
}
