import { applyDecorators, Get, HttpCode, HttpStatus, Injectable, Post, type Type } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiBody,
  ApiCreatedResponse,
  ApiExtraModels,
  ApiOkResponse,
  ApiQuery,
  getSchemaPath,
} from '@nestjs/swagger';
import type { Response } from 'express';
import type { AdminRouteOptions } from '../admin/admin-route.js';
import type { Approval } from '../approvals/approval.js';
import { ApprovalItem } from '../approvals/approval.response.js';
import { type Actor, ActorOfRequest } from '../audit/actor.js';
import { JsonBody, NoBody } from '../api/validation/json-body.js';
import { IdentifierParam, UuidParam } from '../api/validation/path.js';
import { ValidQuery } from '../api/validation/query.js';
import { CroupierError } from '../errors/croupier-error.js';
import {
  BatchCreatedResponse,
  BatchFailuresResponse,
  BatchItem,
  BatchResponse,
} from './batches/batch.response.js';
import { type BatchOutcome, BatchesService } from './batches/batches.service.js';
import { FindBatchQuery, ResendBatchRequest } from './free-spins.request.js';
import type { Grant } from './grants/grant.entity.js';
import {
  DetailedGrantResponse,
  detailedGrantResponse,
  GrantResponse,
  grantResponse,
  GrantStatusResponse,
} from './grants/grant.response.js';
import type { Scope } from './grants/grantable-games.js';
import { type GrantOutcome, GrantsService } from './grants/grants.service.js';
import { WinningsStore } from './winnings/winnings.store.js';

/** The largest body of a batch, in bytes: enough for 1000 player references of 128 characters. Contract, section 2. */
export const BATCH_LIMIT_BYTES = 256 * 1024;

/** What differs between the routes of administrators and those of operators. */
export interface Audience {
  /** The path of the grants, without a leading slash. */
  readonly path: string;
  readonly route: (operationId: string, options: AdminRouteOptions) => MethodDecorator;
  /** Passes the grants that the caller may use to a handler's parameter. */
  readonly ScopeOfCaller: () => ParameterDecorator;
  /** Maps an approval to what the caller may see of it. */
  readonly showApproval: (approval: Approval) => ApprovalItem;
}

/** Creates a class with the routes for grants and batches that administrators and operators share. Contract, section 6. */
export function freeSpinsRoutes({ path, route, ScopeOfCaller }: Audience) {
  @Injectable()
  abstract class FreeSpinsRoutes {
    constructor(
      protected readonly grants: GrantsService,
      protected readonly batches: BatchesService,
      private readonly winnings: WinningsStore,
    ) {}

    @Get('batches/:batchId')
    @route('getBatch', {
      role: 'auditor',
      summary: 'Read a batch',
      description:
        'The counts, also while the batch runs, and the grant of each player unless `items=false`.',
      sensitiveRead: ['free-spins.batch-read', 'batch:{batchId}', { polled: true }],
      errors: ['INVALID_REQUEST', 'NOT_FOUND'],
    })
    @ApiQuery({ type: FindBatchQuery })
    @ApiOkResponse({ type: BatchResponse })
    findBatch(
      @ScopeOfCaller() scope: Scope,
      @UuidParam('batchId') batchId: string,
      @ValidQuery() { items }: FindBatchQuery,
    ): Promise<BatchResponse> {
      return this.batches.find(batchId, scope, items !== 'false');
    }

    @Get('batches/:batchId/failures')
    @route('listBatchFailures', {
      role: 'auditor',
      summary: 'List why grants of a batch are FAILED',
      description:
        'The errors of its FAILED grants, each with its number of grants, the most frequent first.',
      sensitiveRead: ['free-spins.batch-failures', 'batch:{batchId}', { polled: true }],
      errors: ['INVALID_REQUEST', 'NOT_FOUND'],
    })
    @ApiOkResponse({ type: BatchFailuresResponse })
    batchFailures(
      @ScopeOfCaller() scope: Scope,
      @UuidParam('batchId') batchId: string,
    ): Promise<BatchFailuresResponse> {
      return this.batches.failures(batchId, scope);
    }

    @Post('batches/:batchId/status')
    @NoBody()
    @HttpCode(202)
    @route('pullBatchStatus', {
      role: 'support',
      summary: 'Ask the provider for the remaining spins of a batch',
      description:
        'Asks about each GRANTED grant in the background, at most 8 at a time. The batch then shows `completed`, ' +
        '`remainingSpins` and `statusCheckedAt`. No state changes.',
      audited: ['free-spins.batch-status', 'batch:{batchId}', { polled: true }],
      errors: ['NOT_FOUND'],
    })
    @ApiAcceptedResponse({ type: BatchItem })
    pullBatchStatus(
      @ActorOfRequest() actor: Actor,
      @ScopeOfCaller() scope: Scope,
      @UuidParam('batchId') batchId: string,
    ): Promise<BatchItem> {
      return this.batches.pullStatus(actor, batchId, scope);
    }

    @Post('batches/:batchId/cancel')
    @NoBody()
    @HttpCode(202)
    @route('cancelBatch', {
      role: 'promotions',
      summary: 'Cancel a batch',
      description:
        'Unsent grants are never sent: they are CANCELLED, or FAILED if the outcome of an earlier callback is unknown. ' +
        'GRANTED ones are cancelled at the provider, each once. The batch shows the progress. If a cancel fails, its grant ' +
        'stays GRANTED with a `lastCancelError`. Once 16 cancels in a row get no answer, the remaining ones of the batch ' +
        'fail without a call, except expiries. A second call sends failed cancels once more.',
      audited: ['free-spins.batch-cancel', 'batch:{batchId}'],
      errors: ['NOT_FOUND'],
    })
    @ApiAcceptedResponse({ type: BatchItem })
    cancelBatch(
      @ActorOfRequest() actor: Actor,
      @ScopeOfCaller() scope: Scope,
      @UuidParam('batchId') batchId: string,
    ): Promise<BatchItem> {
      return this.batches.cancel(actor, batchId, scope);
    }

    @Post('batches/:batchId/resend')
    @HttpCode(202)
    @route('resendBatch', {
      role: 'promotions',
      summary: 'Send the FAILED grants of a batch once more',
      description:
        'Sends each FAILED grant whose outcome is known once more, with its requestRef. A 409 if that ' +
        'would exceed the daily limit of the operator.',
      audited: ['free-spins.batch-resend', 'batch:{batchId}'],
      errors: ['NOT_FOUND', 'CONFLICT', 'GAME_NOT_CONFIGURED', 'OPERATOR_NOT_CONFIGURED'],
    })
    @ApiBody({ type: ResendBatchRequest, required: false })
    @ApiAcceptedResponse({ type: BatchItem })
    resendBatch(
      @ActorOfRequest() actor: Actor,
      @ScopeOfCaller() scope: Scope,
      @UuidParam('batchId') batchId: string,
      @JsonBody() { includeUnknown = false }: ResendBatchRequest,
    ): Promise<BatchItem> {
      return this.batches.resend(actor, batchId, includeUnknown, scope);
    }

    @Get(':requestRef')
    @route('getGrant', {
      role: 'auditor',
      summary: 'Read a grant',
      description: 'The stored grant, with its winnings; the provider is not called.',
      sensitiveRead: ['free-spins.read', 'grant:{requestRef}', { polled: true }],
      errors: ['INVALID_REQUEST', 'NOT_FOUND'],
    })
    @ApiOkResponse({ type: DetailedGrantResponse })
    async find(
      @ScopeOfCaller() scope: Scope,
      @IdentifierParam('requestRef') requestRef: string,
    ): Promise<DetailedGrantResponse> {
      const grant = await this.grants.find(requestRef, scope);
      return detailedGrantResponse(grant, await this.winnings.ofGrant(requestRef));
    }

    @Post(':requestRef/status')
    @NoBody()
    @HttpCode(200)
    @route('pullGrantStatus', {
      role: 'support',
      summary: 'Ask the provider for the remaining spins of a grant',
      description: 'Stores the answer with the grant, whose state does not change.',
      audited: ['free-spins.status', 'grant:{requestRef}', { polled: true }],
      errors: ['NOT_FOUND', 'CONFLICT', 'PROVIDER_FAILED'],
    })
    @ApiOkResponse({ type: GrantStatusResponse })
    pullStatus(
      @ActorOfRequest() actor: Actor,
      @ScopeOfCaller() scope: Scope,
      @IdentifierParam('requestRef') requestRef: string,
    ): Promise<GrantStatusResponse> {
      return this.grants.pullStatus(actor, requestRef, scope);
    }

    @Post(':requestRef/cancel')
    @NoBody()
    @HttpCode(200)
    @route('cancelGrant', {
      role: 'promotions',
      summary: 'Cancel the remaining spins of a grant',
      description:
        'Spins that were played remain valid. If the provider fails, the grant still shows its spins ' +
        'as live. A second cancel while one is under way is a 409 with ' +
        '`X-Next-Action: wait-then-retry`.',
      audited: ['free-spins.cancel', 'grant:{requestRef}'],
      errors: ['NOT_FOUND', 'CONFLICT', 'PROVIDER_FAILED'],
    })
    @ApiOkResponse({ type: GrantResponse })
    async cancel(
      @ActorOfRequest() actor: Actor,
      @ScopeOfCaller() scope: Scope,
      @IdentifierParam('requestRef') requestRef: string,
    ): Promise<GrantResponse> {
      return grantResponse(await this.grants.cancel(actor, requestRef, scope));
    }

    @Post(':requestRef/resend')
    @NoBody()
    @HttpCode(200)
    @route('resendGrant', {
      role: 'promotions',
      summary: 'Send a FAILED grant once more',
      description:
        'Sends one more callback with the same requestRef. A provider that has already granted it ' +
        'returns the same `externalRef`.',
      audited: ['free-spins.resend', 'grant:{requestRef}'],
      errors: ['NOT_FOUND', 'CONFLICT', 'PROVIDER_FAILED', 'GAME_NOT_CONFIGURED', 'OPERATOR_NOT_CONFIGURED'],
    })
    @ApiOkResponse({ type: GrantResponse })
    async resend(
      @ActorOfRequest() actor: Actor,
      @ScopeOfCaller() scope: Scope,
      @IdentifierParam('requestRef') requestRef: string,
    ): Promise<GrantResponse> {
      return answerSent(await this.grants.resend(actor, requestRef, scope), path);
    }

    @Post(':requestRef/void')
    @NoBody()
    @HttpCode(200)
    @route('voidGrant', {
      role: 'promotions',
      summary: 'Void a FAILED grant whose outcome is unknown',
      description:
        'Sends the grant once more with the same requestRef, to learn its `externalRef`, and cancels ' +
        'it. A grant that is already CANCELLED is returned unchanged.',
      audited: ['free-spins.void', 'grant:{requestRef}'],
      errors: ['NOT_FOUND', 'CONFLICT', 'PROVIDER_FAILED'],
    })
    @ApiOkResponse({ type: GrantResponse, description: 'CANCELLED' })
    async void(
      @ActorOfRequest() actor: Actor,
      @ScopeOfCaller() scope: Scope,
      @IdentifierParam('requestRef') requestRef: string,
    ): Promise<GrantResponse> {
      const grant = await this.grants.void(actor, requestRef, scope);
      if (grant.state === 'CANCELLED') return grantResponse(grant);
      throw providerFailed(grant, path);
    }
  }
  return FreeSpinsRoutes;
}

/** A route that grants spins to one player. */
export function GrantRoute({ route }: Audience, body: Type<object>): MethodDecorator {
  return applyDecorators(
    route('grantFreeSpins', {
      role: 'promotions',
      summary: 'Grant free spins to a player',
      description:
        'Calls the provider once. The same requestRef and body again return the stored grant without a ' +
        'call. If the provider fails, the answer is a 502, and `Location` names the FAILED grant.',
      body,
      audited: ['free-spins.grant', 'grant:{requestRef}'],
      errors: ['CONFLICT', 'PROVIDER_FAILED', 'GAME_NOT_CONFIGURED', 'OPERATOR_NOT_CONFIGURED'],
    }),
    ApiCreatedResponse({ type: GrantResponse, description: 'granted' }),
    ApiOkResponse({
      type: GrantResponse,
      description: 'this requestRef is known: the stored grant, in any state',
    }),
    ApiAcceptedResponse({ type: ApprovalItem, description: 'exceeds a limit: waits for approval' }),
  );
}

/** A route that grants spins to many players. */
export function BatchRoute({ route }: Audience, body: Type<object>): MethodDecorator {
  return applyDecorators(
    route('grantFreeSpinsBatch', {
      role: 'promotions',
      summary: 'Grant free spins to many players',
      description:
        'Records a grant for each player and calls the provider for each, a few at a time; the batch ' +
        'shows its progress. If the provider is down, the remaining grants become FAILED.',
      body,
      audited: ['free-spins.batch', 'batch'],
      errors: ['CONFLICT', 'GAME_NOT_CONFIGURED', 'OPERATOR_NOT_CONFIGURED'],
    }),
    ApiExtraModels(BatchCreatedResponse, ApprovalItem),
    ApiAcceptedResponse({
      description: 'recorded, or, if it exceeds a limit, waiting for approval',
      schema: { anyOf: [BatchCreatedResponse, ApprovalItem].map((type) => ({ $ref: getSchemaPath(type) })) },
    }),
    ApiOkResponse({ type: BatchCreatedResponse, description: 'this batchRef is known: the same batch' }),
  );
}

/**
 * Answers a request to grant: 201 if the grant is new, 200 if it is known, 202 if it waits for approval.
 * @throws as `answerSent`
 */
export function answerGrant(
  outcome: GrantOutcome,
  { path, showApproval }: Audience,
  response: Response,
): GrantResponse | ApprovalItem {
  if ('approval' in outcome) {
    response.status(HttpStatus.ACCEPTED);
    return showApproval(outcome.approval);
  }
  if (!outcome.replayed) return answerSent(outcome.grant, path);
  response.status(HttpStatus.OK);
  return grantResponse(outcome.grant);
}

/** Answers a request for a batch: 202 if the batch is new or waits for approval, 200 if it is known. */
export function answerBatch(
  outcome: BatchOutcome,
  { showApproval }: Audience,
  response: Response,
): BatchCreatedResponse | ApprovalItem {
  const replayed = 'replayed' in outcome && outcome.replayed;
  response.status(replayed ? HttpStatus.OK : HttpStatus.ACCEPTED);
  if ('approval' in outcome) return showApproval(outcome.approval);
  const { batchId, stakeMinor } = outcome;
  return { batchId, stakeMinor };
}

/**
 * Answers a request that sent a grant to its provider.
 * @throws CroupierError PROVIDER_FAILED if the grant is FAILED; the header `Location` has the path of the grant
 */
function answerSent(grant: Grant, path: string): GrantResponse {
  if (grant.state !== 'FAILED') return grantResponse(grant);
  throw providerFailed(grant, path);
}

function providerFailed({ requestRef, failureError, lastCancelError }: Grant, path: string): CroupierError {
  return new CroupierError('PROVIDER_FAILED', failureError ?? lastCancelError ?? undefined, {
    Location: `/${path}/${encodeURIComponent(requestRef)}`,
  });
}
