import { Controller, Get, Headers, Post, type StreamableFile } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiCreatedResponse, ApiOkResponse, ApiQuery, ApiTags } from '@nestjs/swagger';
import { AdminRoute } from '../admin/admin-route.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../api/lists/list.js';
import { ListQuery } from '../api/lists/page.js';
import { UuidParam } from '../api/validation/path.js';
import { ValidQuery } from '../api/validation/query.js';
import { type Actor, ActorOfRequest } from '../audit/actor.js';
import { CroupierError } from '../errors/croupier-error.js';
import { BodyStream, StreamedBody, StreamsBody } from '../server/streamed-body.js';
import { FINDING_COLUMNS, FindingListResponse } from './finding.js';
import { ReconciliationQuery, ReconciliationRequest } from './reconciliation.request.js';
import {
  RECONCILIATION_COLUMNS,
  ReconciliationListResponse,
  ReconciliationResponse,
} from './reconciliation.response.js';
import { ReconciliationService } from './reconciliation.service.js';
import { HEADER } from './statement.js';

/** Largest statement, in bytes: about 600,000 lines. Contract, section 7, "Reconciliation". */
const STATEMENT_LIMIT_BYTES = 64 * 1024 * 1024;

/** Accepts no parameters but `charset=utf-8` and `header=present`. */
const CSV_IN_UTF_8 =
  /^text\/csv[ \t]*(?:;[ \t]*(?:(?:charset=(?:utf-8|"utf-8")|header=(?:present|"present"))[ \t]*)?)*$/i;

const EXAMPLE = `${HEADER}\nsandbox-provider,bet-1001,BET,,player-42,EUR,250,APPROVED,2026-03-01T10:00:00Z\n`;

/** Contract, section 7, "Reconciliation". */
@ApiTags('Reconciliation')
@Controller('v1/admin/reconciliations')
export class ReconciliationsAdminController {
  constructor(private readonly reconciliations: ReconciliationService) {}

  @Post()
  @StreamsBody(STATEMENT_LIMIT_BYTES)
  @AdminRoute('reconcile', {
    role: 'operations',
    summary: "Compare an operator's statement with the platform's transactions",
    description:
      'The body is the statement as CSV (UTF-8, RFC 4180, at most 64 MiB), with the header that the example shows. It is ' +
      'answered when the comparison is finished, which takes longer the busier the instance is. An instance runs one ' +
      'reconciliation at a time. Of an operator, only one that records findings runs at a time, over all instances and ' +
      'the command `reconcile`; another one is a 429. A statement that is not valid is refused with line and column; ' +
      'then nothing is stored.',
    audited: ['reconciliation.run', 'reconciliation'],
    errors: ['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_ENCODING', 'RATE_LIMITED', 'OVERLOADED'],
  })
  @ApiConsumes('text/csv')
  @ApiQuery({ type: ReconciliationRequest })
  @ApiBody({ description: 'The statement', schema: { type: 'string', example: EXAMPLE } })
  @ApiCreatedResponse({ type: ReconciliationResponse })
  async run(
    @ActorOfRequest() actor: Actor,
    @ValidQuery() request: ReconciliationRequest,
    @Headers('content-type') contentType = '',
    @BodyStream() statement: StreamedBody,
  ): Promise<ReconciliationResponse> {
    try {
      if (!CSV_IN_UTF_8.test(contentType)) {
        throw new CroupierError('INVALID_REQUEST', 'Content-Type must be text/csv in UTF-8');
      }
      return await this.reconciliations.run(actor, request, statement);
    } catch (error) {
      await statement.discard();
      throw error;
    }
  }

  @Get()
  @AdminRoute('listReconciliations', {
    role: 'auditor',
    summary: 'List reconciliations, newest first',
    description: 'The newest 100 of each operator are kept; the audit log has the reports of all.',
    sensitiveRead: ['reconciliation.list', 'reconciliations'],
    errors: ['INVALID_REQUEST'],
  })
  @ApiList(ReconciliationListResponse, ReconciliationQuery, RECONCILIATION_COLUMNS)
  list(
    @ValidQuery() query: ReconciliationQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<ReconciliationListResponse | StreamableFile> {
    const read = (page: ReconciliationQuery) => this.reconciliations.list(page);
    return answerList(format, { query, name: 'reconciliations', columns: RECONCILIATION_COLUMNS, read });
  }

  @Get(':id')
  @AdminRoute('getReconciliation', {
    role: 'auditor',
    summary: 'Read the report of a reconciliation',
    sensitiveRead: ['reconciliation.read', 'reconciliation:{id}'],
    errors: ['NOT_FOUND'],
  })
  @ApiOkResponse({ type: ReconciliationResponse })
  find(@UuidParam('id') id: string): Promise<ReconciliationResponse> {
    return this.reconciliations.find(id);
  }

  @Get(':id/findings')
  @AdminRoute('listFindings', {
    role: 'auditor',
    summary: 'List the findings of a reconciliation, in the order of its statement',
    sensitiveRead: ['reconciliation.findings', 'reconciliation:{id}'],
    errors: ['INVALID_REQUEST', 'NOT_FOUND'],
  })
  @ApiList(FindingListResponse, ListQuery, FINDING_COLUMNS)
  listFindings(
    @UuidParam('id') id: string,
    @ValidQuery() query: ListQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<FindingListResponse | StreamableFile> {
    const read = (page: ListQuery) => this.reconciliations.findings(id, page);
    return answerList(format, { query, name: 'findings', columns: FINDING_COLUMNS, read });
  }
}
