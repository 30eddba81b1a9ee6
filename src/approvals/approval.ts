import { itemFrom, type RowOf } from '../api/lists/item.js';
import { APPROVAL_COLUMNS, type ApprovalItem, type ApprovalResponse } from './approval.response.js';
import { type ActionTerms, summaryOf } from './guarded-action.js';

/** A stored approval. */
export type Approval = RowOf<Omit<ApprovalItem, 'summary' | 'askedBy' | 'before' | 'after' | 'kind'>> &
  ActionTerms & {
    readonly askedBy: string;
    readonly fingerprint: Buffer;
    /** Why the action could not be recorded when it was approved; else null. */
    readonly failureError: string | null;
  };

export type ApprovalWithResult = Approval & Pick<ApprovalResponse, 'result'>;

export function approvalItem(approval: Approval): ApprovalItem {
  const { before, after } = approval.kind === 'limit' ? approval.terms : { before: null, after: null };
  return itemFrom(APPROVAL_COLUMNS, { ...approval, before, after, summary: summaryOf(approval) });
}

/** An operator sees the action and the decision, but not which administrator made the request or the decision. */
export function operatorApprovalItem(approval: Approval): ApprovalItem {
  const { decidedBy, decidedByName, askedBy, askedByName, ...shown } = approvalItem(approval);
  return approval.askedBy === `operator:${approval.operatorId}`
    ? { ...shown, askedBy: approval.askedBy }
    : shown;
}

/** @param show `approvalItem` for an administrator, `operatorApprovalItem` for an operator */
export function approvalResponse(approval: ApprovalWithResult, show = approvalItem): ApprovalResponse {
  const { terms, result } = approval;
  return { ...show(approval), terms, ...(result && { result }) };
}
