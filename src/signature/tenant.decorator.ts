import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { ActingRequest } from '../audit/actor.js';
import type { Operator, Provider } from '../tenancy/tenant.js';
import type { RateRecord } from './rate-record.js';

/** A signed request. `SignatureGuard` sets both fields after it has verified the signature. */
export interface SignedRequest extends ActingRequest {
  tenant?: Provider | Operator;
  /** The tenant's request count. */
  rateRecord?: RateRecord;
}

/** The tenant that signed the request. */
export const SignedTenant = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<SignedRequest>().tenant,
);
