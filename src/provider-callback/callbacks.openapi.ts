import type { Type } from '@nestjs/common';
import { getSchemaPath } from '@nestjs/swagger';
import type { OutgoingCall } from '../openapi/outgoing-calls.js';
import {
  type CallbackRoute,
  CancelCallbackRequest,
  GrantCallbackRequest,
  GrantCallbackResponse,
  RevokeCallbackRequest,
  StatusCallbackRequest,
  StatusCallbackResponse,
} from './callback-messages.js';

const SENT_ONCE =
  'Sent once to `webhookBaseUrl`, over a new connection and without following redirects; not repeated after a ' +
  'failure. The whole answer must arrive within `CALLBACK_TIMEOUT_MS` (10 s), and at most 64 KiB of it are ' +
  'read. Verify the signature over the raw body (`verifyPlatformSignature` of the SDK) before anything else, and ' +
  'answer 401 if it is invalid. ';

const SINGLE_ATTEMPT =
  "A failure: the body goes to the platform's error log, and the callback is not repeated";

/** The calls that a provider implements. Contract, section 6. */
export const PROVIDER_CALLBACKS: readonly OutgoingCall[] = [
  callback('/v1/game/free-spins/grant', GrantCallbackRequest, {
    tag: 'Free spins',
    operationId: 'awardFreeSpins',
    summary: 'Grant free spins to a player',
    description:
      'Be idempotent on `requestRef`: a person may send a grant again if its answer was lost, and needs the same ' +
      '`externalRef`. Anything but a 200 with an `externalRef` is a failure.',
    answered: { description: 'Granted', content: json(GrantCallbackResponse) },
  }),
  callback('/v1/game/free-spins/status', StatusCallbackRequest, {
    tag: 'Free spins',
    operationId: 'reportRemainingSpins',
    summary: 'Report the remaining spins of a grant',
    description: 'Called on demand, when a person looks at the grant. It changes nothing.',
    answered: { description: 'The remaining spins', content: json(StatusCallbackResponse) },
  }),
  callback('/v1/game/free-spins/cancel', CancelCallbackRequest, {
    tag: 'Free spins',
    operationId: 'voidRemainingSpins',
    summary: 'Void the remaining spins of a grant',
    description:
      'Be idempotent on `externalRef`: the cancel of a whole batch is sent again if the instance that sent it died. ' +
      'Spins that were played before the call arrived remain valid.',
    answered: { description: 'Cancelled, or no spins were left; the body is ignored' },
  }),
  callback('/v1/game/session/revoke', RevokeCallbackRequest, {
    tag: 'Sessions',
    operationId: 'endSession',
    summary: "End a player's session",
    description:
      'The session has ended already, whether or not this call arrives: wallet calls with its token are a 401, except for ' +
      'replays and late settlement.',
    answered: { description: 'Received; the body is ignored' },
  }),
];

type Callback = Pick<OutgoingCall, 'tag' | 'operationId' | 'summary' | 'description' | 'answered'>;

function callback(path: CallbackRoute, body: Type<object>, { description, ...call }: Callback): OutgoingCall {
  return {
    party: 'provider',
    path,
    ...call,
    description: SENT_ONCE + description,
    content: json(body),
    otherwise: SINGLE_ATTEMPT,
  };
}

function json(type: Type<object>): object {
  return { 'application/json': { schema: { $ref: getSchemaPath(type) } } };
}
