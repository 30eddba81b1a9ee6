import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiQuery, ApiTags } from '@nestjs/swagger';
import { AdminRoute } from '../../admin/admin-route.js';
import { UuidParam } from '../../api/validation/path.js';
import { PageQuery } from '../../api/lists/page.js';
import { ValidQuery } from '../../api/validation/query.js';
import { SESSION_ROUTE } from '../desk.routes.js';
import { SessionDetailPage } from './session-detail.response.js';
import { SessionDetails } from './session-detail.service.js';

/**
 * Shows a session with its rounds and transactions. It is in this room because `session/` must not depend on `wallet/`.
 * Contract, section 7.
 */
@ApiTags('Sessions')
@Controller('v1/admin/sessions')
export class SessionDetailAdminController {
  constructor(private readonly sessions: SessionDetails) {}

  @Get(':sessionId')
  @AdminRoute('getSession', {
    ...SESSION_ROUTE,
    role: 'auditor',
    sensitiveRead: ['session.read', 'session:{sessionId}', { polled: true }],
  })
  @ApiQuery({ type: PageQuery })
  @ApiOkResponse({ type: SessionDetailPage })
  find(
    @UuidParam('sessionId') sessionId: string,
    @ValidQuery() query: PageQuery,
  ): Promise<SessionDetailPage> {
    return this.sessions.page(sessionId, query);
  }
}
