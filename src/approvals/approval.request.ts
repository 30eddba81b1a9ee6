import { TimePageQuery } from '../api/lists/time-page.js';
import { IdentifierField, QueryChoiceField, TextField } from '../api/validation/fields.js';

export const APPROVAL_STATES = ['WAITING', 'APPROVED', 'REJECTED', 'EXPIRED'] as const;
export type ApprovalState = (typeof APPROVAL_STATES)[number];

/** Contract, section 9, "Limits and approvals". */
export class ApprovalQuery extends TimePageQuery {
  @QueryChoiceField(APPROVAL_STATES)
  state?: ApprovalState;

  @IdentifierField({ presence: 'optional', example: 'sandbox-operator' })
  operatorId?: string;
}

export class RejectRequest {
  @TextField({ longest: 500, notBlank: true, example: 'one zero too many' })
  reason: string;
}
