import { SetMetadata } from '@nestjs/common';

/**
 * Who may call a route. A handler without a declaration requires a provider's signature, so that a forgotten
 * declaration closes a route and never opens one.
 */
export type Caller = 'provider' | 'operator' | 'unsigned';

export const CALLER = 'croupier:caller';

/** The route requires the four signature headers, from a tenant of this kind. Contract, section 1. */
export const SignedBy = (caller: 'provider' | 'operator') => SetMetadata(CALLER, caller satisfies Caller);

/** The route requires no signature: it is open, or guarded otherwise. */
export const Unsigned = () => SetMetadata(CALLER, 'unsigned' satisfies Caller);
