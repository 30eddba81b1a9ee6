import { CALLBACK_ROUTES } from '@croupier/provider-sdk';
import type { Case } from '../outcome.js';
import { signatureCases } from '../signature-cases.js';
import type { Target } from '../target.js';
import { transportCases } from '../transport-cases.js';
import type { ProviderCaller } from './caller.js';
import { grantBody, revocationBody } from './expectations.js';
import { FREE_SPINS_CASES } from './free-spins-cases.js';
import { SESSION_CASES } from './session-cases.js';

const TARGET: Target<ProviderCaller> = {
  calls: (caller) => caller.calls,
  probe: { route: CALLBACK_ROUTES.grant, body: (caller) => ({ ...grantBody(caller) }) },
  other: { route: CALLBACK_ROUTES.revoke, body: (caller) => revocationBody(caller) },
  tampered: (body) => ({ ...body, spins: Number(body['spins']) + 1 }),
  refusal: { least: 401, most: 401 },
};

/** Every case for a provider's server. Contract, sections 1 and 6. */
export const PROVIDER_CASES: readonly Case<ProviderCaller>[] = [
  ...signatureCases(TARGET),
  ...FREE_SPINS_CASES,
  ...SESSION_CASES,
  ...transportCases(TARGET),
];
