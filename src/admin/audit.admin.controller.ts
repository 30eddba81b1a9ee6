import { Controller, Get, type StreamableFile } from '@nestjs/common';
import { invalidCursor } from '../api/lists/invalid-cursor.js';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ACTIONS, actionsOf } from '../audit/actions.js';
import { type Actor, ActorOfRequest } from '../audit/actor.js';
import { Audit } from '../audit/audit.service.js';
import type { Entry } from '../audit/entry.js';
import { Reads } from '../audit/reads.js';
import { OUTCOMES } from '../audit/refusals.js';
import { CroupierError } from '../errors/croupier-error.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../api/lists/list.js';
import { itemFrom } from '../api/lists/item.js';
import { pageById } from '../api/lists/page.js';
import { ValidQuery } from '../api/validation/query.js';
import { instantOrDayMs } from '../runtime/instant.js';
import { AdminRoute } from './admin-route.js';
import { AuditQuery } from './audit.request.js';
import {
  AUDIT_COLUMNS,
  AuditActionsResponse,
  type AuditEntryResponse,
  AuditListResponse,
} from './audit.response.js';

/** Contract, section 7. */
@ApiTags('Audit log')
@Controller('v1/admin/audit')
export class AuditAdminController {
  constructor(
    private readonly audit: Audit,
    private readonly reads: Reads,
  ) {}

  @Get()
  @AdminRoute('listAuditEntries', {
    role: 'auditor',
    summary: 'Read the audit log, newest first',
    description:
      'Who did what, from where and when. Each read of the log is recorded, too, before it is answered.',
    errors: ['INVALID_REQUEST'],
  })
  @ApiList(AuditListResponse, AuditQuery, AUDIT_COLUMNS)
  async list(
    @ActorOfRequest() actor: Actor,
    @ValidQuery() query: AuditQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<AuditListResponse | StreamableFile> {
    const read = (page: AuditQuery) => this.page(page);
    const answer = await answerList(format, { query, name: 'audit', columns: AUDIT_COLUMNS, read });
    await this.reads.record(actor, { action: 'audit.read', target: 'audit', after: query });
    return answer;
  }

  @Get('actions')
  @AdminRoute('listAuditActions', {
    role: 'auditor',
    summary: 'List the names of the actions in the audit log',
  })
  @ApiOkResponse({ type: AuditActionsResponse })
  actions(): AuditActionsResponse {
    return { items: ACTIONS };
  }

  private async page(query: AuditQuery): Promise<AuditListResponse> {
    const { action, from, to, ...texts } = query;
    checkOutcome(query.outcome);
    const filter = {
      ...texts,
      ...(action !== undefined && { actions: selected(action) }),
      ...(from !== undefined && { from: new Date(from) }),
      ...(to !== undefined && { to: new Date(to) }),
    };
    const page = await pageById(
      query,
      ({ after, limit }) => this.audit.entries(filter, placeIn(after), limit),
      ({ day, position }) => `${day}/${position}`,
    );
    return { ...page, items: page.items.map(itemOf) };
  }
}

/** @throws CroupierError INVALID_REQUEST if the filter selects no action */
function selected(action: string): readonly string[] {
  const actions = actionsOf(action);
  if (actions.length > 0) return actions;
  throw new CroupierError(
    'INVALID_REQUEST',
    'action must be one of GET /v1/admin/audit/actions, or begin some with .*',
  );
}

/** @throws CroupierError INVALID_REQUEST if no entry has this outcome */
function checkOutcome(outcome: string | undefined): void {
  if (outcome === undefined || OUTCOMES.includes(outcome)) return;
  throw new CroupierError('INVALID_REQUEST', `outcome must be one of: ${OUTCOMES.join(', ')}`);
}

const PLACE = /^(\d{4}-\d{2}-\d{2})\/([1-9]\d{0,8})$/;

/**
 * @param cursor empty to start at the newest entry
 * @throws CroupierError INVALID_REQUEST
 */
function placeIn(cursor: string): { day: string; position: number } | undefined {
  if (cursor === '') return undefined;
  const [, day, position] = PLACE.exec(cursor) ?? [];
  if (day === undefined || instantOrDayMs(day) === null) throw invalidCursor();
  return { day, position: Number(position) };
}

function itemOf(entry: Entry): AuditEntryResponse {
  const { before, after, outcome } = entry;
  return itemFrom<AuditEntryResponse>(AUDIT_COLUMNS, {
    ...entry,
    // Entries of earlier versions have no outcome.
    outcome: outcome ?? 'done',
    before: before === null ? null : (JSON.parse(before) as unknown),
    after: after === null ? null : (JSON.parse(after) as unknown),
  });
}
