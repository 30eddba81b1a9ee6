import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiExtraModels, ApiOkResponse, ApiTags, getSchemaPath } from '@nestjs/swagger';
import type { Response } from 'express';
import { credentialOf } from '../admin/admin.guard.js';
import { AdminRoute } from '../admin/admin-route.js';
import { ApprovalItem } from '../approvals/approval.response.js';
import { AttentionItem } from '../attention/attention.response.js';
import type { ActingRequest } from '../audit/actor.js';
import { BatchItem } from '../free-spins/batches/batch.response.js';
import { LiveStream, STREAM_ROLE } from './live-stream.service.js';
import { OverviewResponse } from './overview.response.js';
import { Overview } from './overview.service.js';

/** The class of each event's data. */
const EVENTS = {
  overview: OverviewResponse,
  attention: AttentionItem,
  approval: ApprovalItem,
  batch: BatchItem,
};

/** Contract, section 9, "Live view". */
@ApiTags('Live view')
@Controller('v1/admin')
export class LiveAdminController {
  constructor(
    private readonly overview: Overview,
    private readonly stream: LiveStream,
  ) {}

  @Get('overview')
  @AdminRoute('getOverview', {
    role: STREAM_ROLE,
    summary: 'Read what happens now',
    description:
      'The transactions of the last hour, the health of operators and providers, and what waits for a person, over ' +
      'all instances. At most 5 seconds old. Its counts and amounts per minute are without DEMO sessions.',
    sensitiveRead: ['overview.read', 'overview', { polled: true }],
  })
  @ApiOkResponse({ type: OverviewResponse })
  read(): Promise<OverviewResponse> {
    return this.overview.read();
  }

  @Get('stream')
  @AdminRoute('streamOverview', {
    role: STREAM_ROLE,
    summary: 'Follow what happens now, as server-sent events',
    description:
      'An `overview` at once and then every 5 seconds; `attention`, `approval` and `batch` whenever such an item is ' +
      'new or changes, at whichever instance; a comment every 15 seconds. The stream ends when the ' +
      'key ends or loses its role, and when the instance stops. Connect again, and begin with the new overview.',
    sensitiveRead: ['stream.open', 'stream', { polled: true }],
  })
  @ApiExtraModels(...Object.values(EVENTS))
  @ApiOkResponse({
    description:
      'Events without ids. The data of each is one line of JSON: ' +
      Object.entries(EVENTS)
        .map(([event, { name }]) => `of \`${event}\` a \`${name}\``)
        .join(', '),
    content: {
      'text/event-stream': {
        schema: { type: 'string' },
        example: 'retry: 3000\n\nevent: overview\ndata: {"at":"2026-01-31T06:00:00.000Z"}\n\n:\n\n',
        'x-events': Object.fromEntries(
          Object.entries(EVENTS).map(([event, data]) => [event, { $ref: getSchemaPath(data) }]),
        ),
      } as object,
    },
  })
  follow(@Req() request: ActingRequest, @Res() response: Response): Promise<void> {
    // The guard has found both.
    return this.stream.open(request.actor!.actor, credentialOf(request)!, response);
  }
}
