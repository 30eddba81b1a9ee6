import { applyDecorators, type Type } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiBody,
  ApiCreatedResponse,
  ApiExtraModels,
  ApiOkResponse,
  ApiOperation,
  ApiQuery,
  getSchemaPath,
} from '@nestjs/swagger';
import { ApprovalItem } from '../approvals/approval.request.js';
import { ApiErrors } from '../api/api-errors.js';
import { FindBatchQuery, ResendBatchRequest } from './free-spins.request.js';
import { BatchCreatedResponse, BatchItem, BatchResponse } from './batches/batch.response.js';
import { DetailedGrantResponse, GrantResponse, GrantStatusResponse } from './grants/grant.response.js';
import { PreviewResponse } from './grants/preview.response.js';

/*
 * OpenAPI documentation of the operations on free spins that administrators and operators share, and of the previews,
 * which only administrators have. The lists differ, because administrators can also export theirs as CSV.
 */

export const ApiGrant = (request: Type<object>) =>
  applyDecorators(
    ApiOperation({
      operationId: 'grantFreeSpins',
      summary: 'Grant free spins to a player',
      description:
        'Calls the provider once. The same requestRef and body again return the stored grant without a ' +
        'call. If the provider fails, the answer is a 502, and `Location` names the FAILED grant.',
    }),
    ApiBody({ type: request }),
    ApiCreatedResponse({ type: GrantResponse, description: 'granted' }),
    ApiOkResponse({
      type: GrantResponse,
      description: 'this requestRef is known: the stored grant, in any state',
    }),
    ApiAcceptedResponse({ type: ApprovalItem, description: 'exceeds a limit: waits for approval' }),
    ApiErrors(
      'INVALID_REQUEST',
      'CONFLICT',
      'PROVIDER_FAILED',
      'GAME_NOT_CONFIGURED',
      'OPERATOR_NOT_CONFIGURED',
    ),
  );

export const ApiGrantBatch = (request: Type<object>) =>
  applyDecorators(
    ApiOperation({
      operationId: 'grantFreeSpinsBatch',
      summary: 'Grant free spins to many players',
      description:
        'Records a grant for each player and calls the provider for each, a few at a time; the batch ' +
        'shows its progress. If the provider is down, the remaining grants become FAILED.',
    }),
    ApiBody({ type: request }),
    ApiExtraModels(BatchCreatedResponse, ApprovalItem),
    ApiAcceptedResponse({
      description: 'recorded, or, if it exceeds a limit, waiting for approval',
      schema: { anyOf: [BatchCreatedResponse, ApprovalItem].map((type) => ({ $ref: getSchemaPath(type) })) },
    }),
    ApiOkResponse({ type: BatchCreatedResponse, description: 'this batchRef is known: the same batch' }),
    ApiErrors(
      'INVALID_REQUEST',
      'CONFLICT',
      'PAYLOAD_TOO_LARGE',
      'GAME_NOT_CONFIGURED',
      'OPERATOR_NOT_CONFIGURED',
    ),
  );

export const ApiPreview = (what: 'grant' | 'batch', request: Type<object>) =>
  applyDecorators(
    ApiOperation({
      operationId: what === 'grant' ? 'previewGrant' : 'previewBatch',
      summary: `Preview a ${what}`,
      description: 'The stake, and whether it needs the approval of a second person. No provider is called.',
    }),
    ApiBody({ type: request }),
    ApiOkResponse({ type: PreviewResponse }),
    ApiErrors('INVALID_REQUEST', 'GAME_NOT_CONFIGURED', 'OPERATOR_NOT_CONFIGURED'),
  );

export const ApiFindBatch = () =>
  applyDecorators(
    ApiOperation({
      operationId: 'getBatch',
      summary: 'Read a batch',
      description:
        'The counts, also while the batch runs, and the grant of each player unless `items=false`.',
    }),
    ApiQuery({ type: FindBatchQuery }),
    ApiOkResponse({ type: BatchResponse }),
    ApiErrors('INVALID_REQUEST', 'NOT_FOUND'),
  );

export const ApiCancelBatch = () =>
  applyDecorators(
    ApiOperation({
      operationId: 'cancelBatch',
      summary: 'Cancel a batch',
      description:
        'Unsent grants are never sent and are CANCELLED; GRANTED ones are cancelled at the provider, each once. The ' +
        'batch shows the progress. If a cancel fails, its grant stays GRANTED with a `lastCancelError`; a second call sends ' +
        'failed cancels once more.',
    }),
    ApiAcceptedResponse({ type: BatchItem }),
    ApiErrors('NOT_FOUND'),
  );

export const ApiResendBatch = () =>
  applyDecorators(
    ApiOperation({
      operationId: 'resendBatch',
      summary: 'Send the FAILED grants of a batch once more',
      description:
        'Sends each FAILED grant whose outcome is known once more, with its requestRef. A 409 if that ' +
        'would exceed the daily limit of the operator.',
    }),
    ApiBody({ type: ResendBatchRequest, required: false }),
    ApiAcceptedResponse({ type: BatchItem }),
    ApiErrors('INVALID_REQUEST', 'NOT_FOUND', 'CONFLICT', 'GAME_NOT_CONFIGURED', 'OPERATOR_NOT_CONFIGURED'),
  );

export const ApiVoid = () =>
  applyDecorators(
    ApiOperation({
      operationId: 'voidGrant',
      summary: 'Void a FAILED grant whose outcome is unknown',
      description:
        'Sends the grant once more with the same requestRef, to learn its `externalRef`, and cancels ' +
        'it. A grant that is already CANCELLED is returned unchanged.',
    }),
    ApiOkResponse({ type: GrantResponse, description: 'CANCELLED' }),
    ApiErrors('INVALID_REQUEST', 'NOT_FOUND', 'CONFLICT', 'PROVIDER_FAILED'),
  );

export const ApiFindGrant = () =>
  applyDecorators(
    ApiOperation({
      operationId: 'getGrant',
      summary: 'Read a grant',
      description: 'The stored grant, with its winnings; the provider is not called.',
    }),
    ApiOkResponse({ type: DetailedGrantResponse }),
    ApiErrors('INVALID_REQUEST', 'NOT_FOUND'),
  );

export const ApiPullStatus = () =>
  applyDecorators(
    ApiOperation({
      operationId: 'pullGrantStatus',
      summary: 'Ask the provider for the remaining spins of a grant',
      description: 'Stores the answer with the grant, whose state does not change.',
    }),
    ApiOkResponse({ type: GrantStatusResponse }),
    ApiErrors('INVALID_REQUEST', 'NOT_FOUND', 'CONFLICT', 'PROVIDER_FAILED'),
  );

export const ApiCancel = () =>
  applyDecorators(
    ApiOperation({
      operationId: 'cancelGrant',
      summary: 'Cancel the remaining spins of a grant',
      description:
        'Spins that were played remain valid. If the provider fails, the grant still shows its spins ' +
        'as live. A second cancel while one is under way is a 409 with ' +
        '`X-Next-Action: wait-then-retry`.',
    }),
    ApiOkResponse({ type: GrantResponse }),
    ApiErrors('INVALID_REQUEST', 'NOT_FOUND', 'CONFLICT', 'PROVIDER_FAILED'),
  );

export const ApiResend = () =>
  applyDecorators(
    ApiOperation({
      operationId: 'resendGrant',
      summary: 'Send a FAILED grant once more',
      description:
        'Sends one more callback with the same requestRef. A provider that has already granted it ' +
        'returns the same `externalRef`.',
    }),
    ApiOkResponse({ type: GrantResponse }),
    ApiErrors(
      'INVALID_REQUEST',
      'NOT_FOUND',
      'CONFLICT',
      'PROVIDER_FAILED',
      'GAME_NOT_CONFIGURED',
      'OPERATOR_NOT_CONFIGURED',
    ),
  );
