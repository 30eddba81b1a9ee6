import { SetMetadata } from '@nestjs/common';

/**
 * Who may call a route. A route without `@SignedBy` or `@Unsigned` requires a provider's signature, so that a forgotten
 * decorator never makes a route public.
 */
export type Caller = 'provider' | 'operator' | 'unsigned';

export const CALLER = 'croupier:caller';

/** The route requires the four signature headers, from a tenant of this kind. Contract, section 1. */
export const SignedBy = (caller: 'provider' | 'operator') => SetMetadata(CALLER, caller satisfies Caller);

/** The route requires no signature. It is public, or another guard protects it. */
export const Unsigned = () => SetMetadata(CALLER, 'unsigned' satisfies Caller);
