import { applyDecorators, SetMetadata, UseInterceptors } from '@nestjs/common';
import { BoundedReads } from './bounded-reads.js';

/**
 * Who may call a route. A route without `@SignedByOperator` or `@Unsigned` requires a provider's signature, so that a
 * forgotten decorator never makes a route public.
 */
export type Caller = 'provider' | 'operator' | 'unsigned';

export const CALLER = 'croupier:caller';

/**
 * The routes require the four signature headers, from an operator, whose reads take turns. Contract, sections 1 and 9.
 */
export const SignedByOperator = () =>
  applyDecorators(SetMetadata(CALLER, 'operator' satisfies Caller), UseInterceptors(BoundedReads));

/** The route requires no signature. It is public, or another guard protects it. */
export const Unsigned = () => SetMetadata(CALLER, 'unsigned' satisfies Caller);
