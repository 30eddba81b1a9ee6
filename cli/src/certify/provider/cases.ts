import { CALLBACK_ROUTES } from '@croupier/provider-sdk';
import type { Case } from '../outcome.js';
import { signatureCases } from '../signature-cases.js';
import type { Target } from '../target.js';
import { transportCases } from '../transport-cases.js';
import { CALLBACK_SIGNATURE_CASES } from './callback-signature-cases.js';
import type { ProviderCaller } from './caller.js';
import { CANCEL_CASES } from './cancel-cases.js';
import { grantBody, revocationBody } from './expectations.js';
import { GRANT_CASES } from './grant-cases.js';
import { LATENCY_CASES } from './latency-cases.js';
import { LOST_CALL_CASES } from './lost-call-cases.js';
import { MEMORY_CASES } from './memory-cases.js';
import { PLAY_CASES } from './play-cases.js';
import type { ProviderCase } from './provider-case.js';
import { REPEATED_GRANT_CASES } from './repeated-grant-cases.js';
import { SESSION_CASES } from './session-cases.js';
import { STATUS_CASES } from './status-cases.js';

const TARGET: Target<ProviderCaller> = {
  calls: (caller) => caller.calls,
  probe: { route: CALLBACK_ROUTES.grant, body: (caller) => ({ ...grantBody(caller) }) },
  identifiers: '--player-ref, --game-id and --currency',
  other: { route: CALLBACK_ROUTES.revoke, body: (caller) => revocationBody(caller), isAnswerIgnored: true },
  tampered: (body) => ({ ...body, spins: Number(body['spins']) + 1 }),
  refusal: { least: 401, most: 401 },
};

/** Every case for a provider's server. Contract, sections 1 and 6. */
export const PROVIDER_CASES: readonly Case<ProviderCaller>[] = [
  ...signatureCases(TARGET),
  ...grouped('signature', CALLBACK_SIGNATURE_CASES),
  ...grouped('grant', [...GRANT_CASES, ...REPEATED_GRANT_CASES]),
  ...grouped('status', STATUS_CASES),
  ...grouped('cancel', CANCEL_CASES),
  ...grouped('play', PLAY_CASES),
  ...grouped('revoke', SESSION_CASES),
  ...transportCases(TARGET),
  ...grouped('transport', LOST_CALL_CASES),
  ...grouped('latency', LATENCY_CASES),
  ...grouped('memory', MEMORY_CASES),
];

function grouped(group: string, cases: readonly ProviderCase[]): Case<ProviderCaller>[] {
  return cases.map((each) => ({ ...each, group }));
}
