import { SetMetadata } from '@nestjs/common';

/** Who may call a route. A handler without a declaration is the provider's: forgetting closes, never opens. */
export type Caller = 'provider' | 'operator' | 'unsigned';

export const CALLER = 'croupier:caller';

/** The route carries the four signature headers of such a tenant. Contract, section 1. */
export const SignedBy = (caller: 'provider' | 'operator') => SetMetadata(CALLER, caller satisfies Caller);

/** The route carries no signature: it is open, or guarded by something else. */
export const Unsigned = () => SetMetadata(CALLER, 'unsigned' satisfies Caller);
