import { applyDecorators, type Type } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiBody,
  ApiCreatedResponse,
  ApiExtraModels,
  ApiOkResponse,
  ApiOperation,
  getSchemaPath,
} from '@nestjs/swagger';
import { ApprovalItem } from '../approvals/approval.request.js';
import { ApiErrors } from '../api/api-errors.js';
import type { ErrorCode } from '../errors/catalogue.js';
import { BatchCreatedResponse } from './batches/batch.response.js';
import { GrantResponse } from './grants/grant.response.js';

/**
 * OpenAPI documentation of the operations on free spins that administrators and operators share, by operation id. The
 * lists differ, because administrators can also export theirs as CSV.
 */
export const OPERATIONS = {
  grantFreeSpins: {
    summary: 'Grant free spins to a player',
    description:
      'Calls the provider once. The same requestRef and body again return the stored grant without a ' +
      'call. If the provider fails, the answer is a 502, and `Location` names the FAILED grant.',
    errors: ['CONFLICT', 'PROVIDER_FAILED', 'GAME_NOT_CONFIGURED', 'OPERATOR_NOT_CONFIGURED'],
  },
  grantFreeSpinsBatch: {
    summary: 'Grant free spins to many players',
    description:
      'Records a grant for each player and calls the provider for each, a few at a time; the batch ' +
      'shows its progress. If the provider is down, the remaining grants become FAILED.',
    errors: ['CONFLICT', 'GAME_NOT_CONFIGURED', 'OPERATOR_NOT_CONFIGURED'],
  },
  getBatch: {
    summary: 'Read a batch',
    description: 'The counts, also while the batch runs, and the grant of each player unless `items=false`.',
    errors: ['INVALID_REQUEST', 'NOT_FOUND'],
  },
  cancelBatch: {
    summary: 'Cancel a batch',
    description:
      'Unsent grants are never sent and are CANCELLED; GRANTED ones are cancelled at the provider, each once. The ' +
      'batch shows the progress. If a cancel fails, its grant stays GRANTED with a `lastCancelError`; a second call sends ' +
      'failed cancels once more.',
    errors: ['NOT_FOUND'],
  },
  resendBatch: {
    summary: 'Send the FAILED grants of a batch once more',
    description:
      'Sends each FAILED grant whose outcome is known once more, with its requestRef. A 409 if that ' +
      'would exceed the daily limit of the operator.',
    errors: ['NOT_FOUND', 'CONFLICT', 'GAME_NOT_CONFIGURED', 'OPERATOR_NOT_CONFIGURED'],
  },
  voidGrant: {
    summary: 'Void a FAILED grant whose outcome is unknown',
    description:
      'Sends the grant once more with the same requestRef, to learn its `externalRef`, and cancels ' +
      'it. A grant that is already CANCELLED is returned unchanged.',
    errors: ['NOT_FOUND', 'CONFLICT', 'PROVIDER_FAILED'],
  },
  getGrant: {
    summary: 'Read a grant',
    description: 'The stored grant, with its winnings; the provider is not called.',
    errors: ['INVALID_REQUEST', 'NOT_FOUND'],
  },
  pullGrantStatus: {
    summary: 'Ask the provider for the remaining spins of a grant',
    description: 'Stores the answer with the grant, whose state does not change.',
    errors: ['NOT_FOUND', 'CONFLICT', 'PROVIDER_FAILED'],
  },
  cancelGrant: {
    summary: 'Cancel the remaining spins of a grant',
    description:
      'Spins that were played remain valid. If the provider fails, the grant still shows its spins ' +
      'as live. A second cancel while one is under way is a 409 with ' +
      '`X-Next-Action: wait-then-retry`.',
    errors: ['NOT_FOUND', 'CONFLICT', 'PROVIDER_FAILED'],
  },
  resendGrant: {
    summary: 'Send a FAILED grant once more',
    description:
      'Sends one more callback with the same requestRef. A provider that has already granted it ' +
      'returns the same `externalRef`.',
    errors: ['NOT_FOUND', 'CONFLICT', 'PROVIDER_FAILED', 'GAME_NOT_CONFIGURED', 'OPERATOR_NOT_CONFIGURED'],
  },
} as const satisfies Readonly<
  Record<string, { summary: string; description: string; errors: readonly ErrorCode[] }>
>;

/** Documents an operator's route as `AdminRoute` documents an administrator's. */
export function OperatorRoute(operationId: keyof typeof OPERATIONS, body?: Type<object>): MethodDecorator {
  const { summary, description, errors } = OPERATIONS[operationId];
  return applyDecorators(
    ApiOperation({ operationId, summary, description }),
    ...(body ? [ApiBody({ type: body })] : []),
    ApiErrors(...errors),
  );
}

export const ApiGrantResponses = () =>
  applyDecorators(
    ApiCreatedResponse({ type: GrantResponse, description: 'granted' }),
    ApiOkResponse({
      type: GrantResponse,
      description: 'this requestRef is known: the stored grant, in any state',
    }),
    ApiAcceptedResponse({ type: ApprovalItem, description: 'exceeds a limit: waits for approval' }),
  );

export const ApiBatchResponses = () =>
  applyDecorators(
    ApiExtraModels(BatchCreatedResponse, ApprovalItem),
    ApiAcceptedResponse({
      description: 'recorded, or, if it exceeds a limit, waiting for approval',
      schema: { anyOf: [BatchCreatedResponse, ApprovalItem].map((type) => ({ $ref: getSchemaPath(type) })) },
    }),
    ApiOkResponse({ type: BatchCreatedResponse, description: 'this batchRef is known: the same batch' }),
  );
