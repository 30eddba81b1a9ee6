import { TimePageQuery } from '../api/lists/time-page.js';
import { IdentifierField, QueryChoiceField } from '../api/validation/fields.js';
import { InstantField } from '../api/validation/instant.js';

/** The parameters of a reconciliation; its body is the statement. */
export class ReconciliationRequest {
  @IdentifierField({ example: 'sandbox-operator', description: 'The operator of the statement' })
  operatorId: string;

  @InstantField('The beginning of the range: from ≤ time < to', {
    presence: 'required',
    example: '2026-03-01T00:00:00Z',
  })
  from: string;

  @InstantField('The end of the range, later than `from`', {
    presence: 'required',
    example: '2026-04-01T00:00:00Z',
  })
  to: string;

  @QueryChoiceField(['true', 'false'], {
    default: 'false',
    description:
      'Whether to add the findings to the attention queue, and to close its items whose finding is gone',
  })
  record?: 'true' | 'false';
}

export class ReconciliationQuery extends TimePageQuery {
  @IdentifierField({ presence: 'optional', example: 'sandbox-operator' })
  operatorId?: string;
}
