import { TimePageQuery } from '../../api/lists/time-page.js';
import { IdentifierField } from '../../api/validation/fields.js';

export class FlaggedWinQuery extends TimePageQuery {
  @IdentifierField({ presence: 'optional', example: 'sandbox-operator' })
  operatorId?: string;
}
