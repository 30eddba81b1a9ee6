import { CroupierError } from '../errors/croupier-error.js';
import { type GrantResponse, shown } from './free-spins.response.js';
import type { Grant } from './grant.entity.js';

/** A thousand players by references of the longest kind need more than other bodies. Contract, section 2. */
export const BATCH_LIMIT_BYTES = 256 * 1024;

/**
 * What a caller whose grant was sent is answered.
 * @param path of the caller's own route, without a slash before it
 * @throws CroupierError PROVIDER_FAILED, with `Location` naming the record, where the grant is FAILED
 */
export function granted(grant: Grant, path: string): GrantResponse {
  if (grant.state !== 'FAILED') return shown(grant);
  const location = `/${path}/${encodeURIComponent(grant.requestRef)}`;
  throw new CroupierError('PROVIDER_FAILED', grant.failureError ?? undefined, { Location: location });
}
