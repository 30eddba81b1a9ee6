import { Controller, Get, HttpCode, Post, type StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AdminRoute } from '../admin/admin-route.js';
import { type Actor, ActorOfRequest } from '../audit/actor.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../api/lists/list.js';
import { JsonBody, NoBody } from '../api/validation/json-body.js';
import { UuidParam } from '../api/validation/path.js';
import { ValidQuery } from '../api/validation/query.js';
import { approvalResponse } from './approval.js';
import { ApprovalQuery, RejectRequest } from './approval.request.js';
import { APPROVAL_COLUMNS, ApprovalListResponse, ApprovalResponse } from './approval.response.js';
import { ApprovalsService } from './approvals.service.js';

const DECIDED_BY =
  'The caller also needs the role of the action: `promotions` for a grant or a batch, `operations` for an adjustment ' +
  'or a settlement, `admin` for a change of limits.';

/** Contract, section 9, "Limits and approvals". */
@ApiTags('Limits and approvals')
@Controller('v1/admin/approvals')
export class ApprovalsAdminController {
  constructor(private readonly approvals: ApprovalsService) {}

  @Get()
  @AdminRoute('listApprovals', {
    role: 'auditor',
    summary: 'List approvals, waiting or decided, newest first',
    sensitiveRead: ['approvals.list', 'approvals', { polled: true }],
    errors: ['INVALID_REQUEST'],
  })
  @ApiList(ApprovalListResponse, ApprovalQuery, APPROVAL_COLUMNS)
  list(
    @ValidQuery() query: ApprovalQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<ApprovalListResponse | StreamableFile> {
    const read = (page: ApprovalQuery) => this.approvals.list(page);
    return answerList(format, { query, name: 'approvals', columns: APPROVAL_COLUMNS, read });
  }

  @Get(':approvalId')
  @AdminRoute('getApproval', {
    role: 'auditor',
    summary: 'Read an approval, with the complete action and its outcome',
    sensitiveRead: ['approval.read', 'approval:{approvalId}', { polled: true }],
    errors: ['NOT_FOUND'],
  })
  @ApiOkResponse({ type: ApprovalResponse })
  async find(@UuidParam('approvalId') approvalId: string): Promise<ApprovalResponse> {
    return approvalResponse(await this.approvals.find(approvalId));
  }

  @Post(':approvalId/approve')
  @NoBody()
  @AdminRoute('approveAction', {
    role: 'support',
    summary: 'Approve an action and carry it out',
    description:
      `${DECIDED_BY} The approver must be neither the requester nor a key that the requester created, and must not ` +
      "have created the requester's key, unless the approver is the root key. The action is carried out exactly once; " +
      'if it fails, the approval stays APPROVED, with `result.error`. Approving again returns the same answer.',
    audited: ['approval.approve', 'approval:{approvalId}'],
    errors: ['NOT_FOUND', 'CONFLICT'],
  })
  @HttpCode(200)
  @ApiOkResponse({ type: ApprovalResponse })
  async approve(
    @ActorOfRequest() actor: Actor,
    @UuidParam('approvalId') approvalId: string,
  ): Promise<ApprovalResponse> {
    return approvalResponse(await this.approvals.approve(actor, approvalId));
  }

  @Post(':approvalId/reject')
  @AdminRoute('rejectAction', {
    role: 'support',
    summary: 'Reject or withdraw an action',
    description: `${DECIDED_BY} The requester does not need the role of the action: rejecting an own request withdraws it.`,
    body: RejectRequest,
    audited: ['approval.reject', 'approval:{approvalId}'],
    errors: ['NOT_FOUND', 'CONFLICT'],
  })
  @HttpCode(200)
  @ApiOkResponse({ type: ApprovalResponse })
  async reject(
    @ActorOfRequest() actor: Actor,
    @UuidParam('approvalId') approvalId: string,
    @JsonBody() { reason }: RejectRequest,
  ): Promise<ApprovalResponse> {
    return approvalResponse(await this.approvals.reject(actor, approvalId, reason));
  }
}
