import { Injectable } from '@nestjs/common';
import { signRequest } from '@croupier/provider-sdk';
import { currentRequestId, traceHeaders } from '../observability/trace.js';
import { Clock } from '../runtime/clock.js';
import { Randomness } from '../runtime/randomness.js';

export interface Addressee {
  readonly tenantId: string;
  readonly secret: string;
}

/** Creates the headers of an outgoing POST. Contract, section 1, "Signature". */
@Injectable()
export class CallSigner {
  constructor(
    private readonly clock: Clock,
    private readonly randomness: Randomness,
  ) {}

  /**
   * The headers of one call, with a new nonce.
   * @param path the request target, with its query
   * @param body the exact bytes that will be sent
   */
  headers({ tenantId, secret }: Addressee, path: string, body: Buffer): Record<string, string> {
    const requestId = currentRequestId();
    return {
      'Content-Type': 'application/json',
      // No answer is decoded. Contract, section 4.
      'Accept-Encoding': 'identity',
      ...signRequest({
        method: 'POST',
        path,
        body,
        tenantId,
        secret,
        nonce: this.randomness.uuid(),
        now: this.clock.unixSeconds(),
      }),
      ...(requestId !== undefined && { 'X-Request-Id': requestId }),
      ...traceHeaders(),
    };
  }
}
