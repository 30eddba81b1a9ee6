import { Injectable } from '@nestjs/common';
import type { Result } from 'ioredis';
import { BoundedLogger } from '../observability/bounded-logger.js';
import { CroupierError } from '../errors/croupier-error.js';
import { failureText } from '../runtime/failure-text.js';
import { Randomness } from '../runtime/randomness.js';
import { RedisConnection } from '../runtime/redis.js';
import { RATE_WINDOW_MS, type RateRecord } from './rate-record.js';

/**
 * Counts the request in the window KEYS[2] of ARGV[2] milliseconds, and claims the nonce KEYS[1] for ARGV[1] seconds,
 * unless the request is beyond the limit, ARGV[4]. A replayed nonce is not counted. In a cluster, ioredis sends the script
 * again if the connection closes before the answer. The id of the claim, ARGV[3], distinguishes such a repetition, which
 * is counted twice, from a replay.
 *
 * Redis stores the end of a window as a time of day. If its clock is set back, or a fail-over leads to a server whose
 * clock is behind, a window would last longer than ARGV[2]; such a window is replaced.
 */
const CLAIM_NONCE = `
local claimed = redis.call('GET', KEYS[1])
if claimed and claimed ~= ARGV[3] then return false end
if redis.call('PTTL', KEYS[2]) > tonumber(ARGV[2]) then redis.call('DEL', KEYS[2]) end
redis.call('SET', KEYS[2], '0', 'PX', ARGV[2], 'NX')
local requests = redis.call('INCR', KEYS[2])
if requests <= tonumber(ARGV[4]) then redis.call('SET', KEYS[1], ARGV[3], 'EX', ARGV[1], 'NX') end
return { requests, redis.call('PTTL', KEYS[2]) }`;

declare module 'ioredis' {
  interface RedisCommander<Context> {
    claimNonce(
      nonceKey: string,
      windowKey: string,
      rememberSeconds: number,
      windowMs: number,
      claimId: string,
      limit: number,
    ): Result<[requests: number, windowEndsInMs: number] | null, Context>;
  }
}

/**
 * Keeps the nonces of all instances in Redis. The claim also counts the request towards the tenant's rate limit, so
 * that both take one round trip.
 */
@Injectable()
export class RedisNonces {
  private readonly logger = new BoundedLogger('Signature');

  constructor(
    private readonly redis: RedisConnection,
    private readonly randomness: Randomness,
  ) {
    redis.client?.defineCommand('claimNonce', { lua: CLAIM_NONCE, numberOfKeys: 2 });
  }

  get configured(): boolean {
    return this.redis.client !== undefined;
  }

  /**
   * Claims the nonce and counts the request.
   * @param limit the tenant's limit
   * @returns undefined if the nonce was used before
   * @throws CroupierError REPLAY_PROTECTION_UNAVAILABLE if Redis does not answer, or cannot claim or count
   */
  async claim(
    tenantId: string,
    nonce: string,
    rememberSeconds: number,
    limit: number,
  ): Promise<RateRecord | undefined> {
    const redis = this.redis.client!;
    // The braces are a hash tag: all keys of a tenant are in one slot of a Redis Cluster.
    const prefix = `croupier:{${tenantId}}`;
    try {
      const counted = await redis.claimNonce(
        `${prefix}:nonce:${nonce}`,
        `${prefix}:rate`,
        rememberSeconds,
        RATE_WINDOW_MS,
        this.randomness.uuid(),
        limit,
      );
      if (!counted) return undefined;
      const [requests, windowEndsInMs] = counted;
      return { requests, limit, windowEndsInMs };
    } catch (error) {
      this.logger.warn({
        msg: 'nonce not claimed, request refused: check Redis',
        error: failureText(error),
      });
      throw new CroupierError('REPLAY_PROTECTION_UNAVAILABLE');
    }
  }
}
