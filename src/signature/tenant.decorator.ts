import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { ActingRequest } from '../audit/actor.js';
import type { Operator, Provider } from '../tenancy/tenant.js';
import type { RateRecord } from './rate-record.js';

/** A request whose signature holds: the guard has put its tenant there. */
export interface SignedRequest extends ActingRequest {
  tenant?: Provider | Operator;
  /** What was counted for the tenant's limit; absent without Redis, where nonces are claimed and requests counted apart. */
  rateRecord?: RateRecord;
}

/** The tenant whose signature the request carries. */
export const SignedTenant = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<SignedRequest>().tenant,
);
