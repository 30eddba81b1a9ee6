import { CroupierError } from '../errors/croupier-error.js';
import { type GrantResponse, grantResponse } from './free-spins.response.js';
import type { Grant } from './grant.entity.js';

/** The largest body of a batch, in bytes: a thousand player references of 128 characters. Contract, section 2. */
export const BATCH_LIMIT_BYTES = 256 * 1024;

/**
 * The answer to a request that sent a grant to its provider.
 * @param path the caller's route of grants, without a leading slash
 * @throws CroupierError PROVIDER_FAILED if the grant is FAILED; its `Location` is the grant's record
 */
export function granted(grant: Grant, path: string): GrantResponse {
  if (grant.state !== 'FAILED') return grantResponse(grant);
  const location = `/${path}/${encodeURIComponent(grant.requestRef)}`;
  throw new CroupierError('PROVIDER_FAILED', grant.failureError ?? undefined, { Location: location });
}
