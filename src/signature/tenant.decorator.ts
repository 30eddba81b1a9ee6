import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { ActingRequest } from '../audit/actor.js';
import type { Operator, Provider } from '../tenancy/tenant.js';

/** A request whose signature holds: the guard has put its tenant there. */
export interface SignedRequest extends ActingRequest {
  tenant?: Provider | Operator;
}

/** The tenant whose signature the request carries. */
export const SignedTenant = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<SignedRequest>().tenant,
);
