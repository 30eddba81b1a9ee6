import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { SignedByOperator } from '../api/caller.js';
import { DescribedRoute } from '../api/described-route.js';
import { UuidParam } from '../api/validation/path.js';
import { ApiSigned } from '../signature/api-signed.js';
import { SignedTenant } from '../signature/tenant.decorator.js';
import type { Operator } from '../tenancy/tenant.js';
import { approvalResponse, operatorApprovalItem } from './approval.js';
import { ApprovalResponse } from './approval.response.js';
import { ApprovalsService } from './approvals.service.js';

/** Contract, section 9, "Limits and approvals". */
@ApiTags('Limits and approvals')
@ApiSigned()
@SignedByOperator()
@Controller('v1/operator/approvals')
export class ApprovalsOperatorController {
  constructor(private readonly approvals: ApprovalsService) {}

  @Get(':approvalId')
  @DescribedRoute('getApproval', {
    summary: 'Read the approval of a grant or batch',
    description: 'Only of your own grants and batches; it does not name the administrators.',
    errors: ['NOT_FOUND'],
  })
  @ApiOkResponse({ type: ApprovalResponse })
  async find(
    @SignedTenant() { id: operatorId }: Operator,
    @UuidParam('approvalId') approvalId: string,
  ): Promise<ApprovalResponse> {
    return approvalResponse(await this.approvals.find(approvalId, operatorId), operatorApprovalItem);
  }
}
