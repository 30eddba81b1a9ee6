import { HttpStatus } from '@nestjs/common';
import type { Response } from 'express';
import type { ApprovalItem } from '../approvals/approval.request.js';
import type { Approval } from '../approvals/approval.js';
import { CroupierError } from '../errors/croupier-error.js';
import type { BatchOutcome } from './batches/batches.service.js';
import { type BatchCreatedResponse } from './batches/batch.response.js';
import { type GrantResponse, grantResponse } from './grants/grant.response.js';
import type { GrantOutcome } from './grants/grants.service.js';
import type { Grant } from './grants/grant.entity.js';

/** The largest body of a batch, in bytes: enough for 1000 player references of 128 characters. Contract, section 2. */
export const BATCH_LIMIT_BYTES = 256 * 1024;

/**
 * Answers a request that sent a grant to its provider.
 * @param path path of the route on which the caller reads grants, without a leading slash
 * @throws CroupierError PROVIDER_FAILED if the grant is FAILED; the header `Location` has the path of the grant
 */
export function answerSent(grant: Grant, path: string): GrantResponse {
  if (grant.state !== 'FAILED') return grantResponse(grant);
  throw providerFailed(grant, path);
}

/**
 * Answers a request to grant: 201 if the grant is new, 200 if it is known, 202 if it waits for approval.
 * @param show maps an approval to what the caller may see of it
 * @throws as `answerSent`
 */
export function answerGrant(
  outcome: GrantOutcome,
  path: string,
  response: Response,
  show: (approval: Approval) => ApprovalItem,
): GrantResponse | ApprovalItem {
  if ('approval' in outcome) {
    response.status(HttpStatus.ACCEPTED);
    return show(outcome.approval);
  }
  if (!outcome.replayed) return answerSent(outcome.grant, path);
  response.status(HttpStatus.OK);
  return grantResponse(outcome.grant);
}

/** Answers a request for a batch: 202 if the batch is new or waits for approval, 200 if it is known. */
export function answerBatch(
  outcome: BatchOutcome,
  response: Response,
  show: (approval: Approval) => ApprovalItem,
): BatchCreatedResponse | ApprovalItem {
  const replayed = 'replayed' in outcome && outcome.replayed;
  response.status(replayed ? HttpStatus.OK : HttpStatus.ACCEPTED);
  if ('approval' in outcome) return show(outcome.approval);
  const { batchId, stakeMinor } = outcome;
  return { batchId, stakeMinor };
}

/**
 * Answers a request to void a grant.
 * @throws CroupierError PROVIDER_FAILED if the grant is not CANCELLED; the header `Location` has the path of the grant
 */
export function answerVoided(grant: Grant, path: string): GrantResponse {
  if (grant.state === 'CANCELLED') return grantResponse(grant);
  throw providerFailed(grant, path);
}

function providerFailed({ requestRef, failureError, lastCancelError }: Grant, path: string): CroupierError {
  const location = `/${path}/${encodeURIComponent(requestRef)}`;
  return new CroupierError('PROVIDER_FAILED', failureError ?? lastCancelError ?? undefined, {
    Location: location,
  });
}
