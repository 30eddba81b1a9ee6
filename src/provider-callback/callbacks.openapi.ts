import { FREE_SPINS_REF_SCHEMA, FREE_SPINS_REF_WORDS } from '../http/validation/free-spins-ref.js';
import type { OutgoingCall } from '../openapi/outgoing-calls.js';
import type { CallbackRoute } from './provider-callbacks.service.js';

type Schema = Readonly<Record<string, unknown>>;

const SENT_ONCE =
  'Sent once to `webhookBaseUrl`, over a new connection and without following redirects; not repeated after a ' +
  'failure. The whole answer must arrive within `CALLBACK_TIMEOUT_MS` (10 s), and at most 64 KiB of it are ' +
  'read. Verify the signature over the raw body (`verifyPlatformSignature` of the SDK) before anything else, and ' +
  'answer 401 if it is invalid. ';

const text = (example: string, description?: string): Schema => ({
  type: 'string',
  example,
  ...(description !== undefined && { description }),
});
const count = (example: number, description: string, minimum = 0): Schema => ({
  type: 'integer',
  minimum,
  example,
  description,
});

const PLAYER = { playerRef: text('player-42'), gameId: text('sandbox-slots') };
const GRANT = {
  externalRef: text('spins-7', "The provider's identifier of the grant, from its answer"),
  ...PLAYER,
};

const SINGLE_ATTEMPT =
  "A failure: the body goes to the platform's error log, and the callback is not repeated";

/** The calls that a provider implements. Contract, section 6. */
export const PROVIDER_CALLBACKS: readonly OutgoingCall[] = [
  callback('/v1/game/free-spins/grant', {
    tag: 'Free spins',
    operationId: 'grantFreeSpins',
    summary: 'Grant free spins to a player',
    description:
      'Be idempotent on `requestRef`: a person may send a grant again if its answer was lost, and needs the same ' +
      '`externalRef`. Anything but a 200 with an `externalRef` is a failure.',
    fields: {
      requestRef: text(
        'summer-2026-player-42',
        "The platform's identifier of the grant; it may arrive again",
      ),
      ...PLAYER,
      spins: count(10, 'Number of spins', 1),
      betAmountMinor: count(20, 'Stake of a spin in minor units; 0: your default stake'),
      currency: text('EUR', 'ISO 4217'),
    },
    answered: {
      description: 'Granted',
      content: json({
        externalRef: {
          ...FREE_SPINS_REF_SCHEMA,
          example: 'spins-7',
          description: `Your identifier of the grant; winnings name it as freeSpinsRef. ${FREE_SPINS_REF_WORDS}`,
        },
      }),
    },
  }),
  callback('/v1/game/free-spins/status', {
    tag: 'Free spins',
    operationId: 'freeSpinsStatus',
    summary: 'Report the remaining spins of a grant',
    description: 'Called on demand, when a person looks at the grant. It changes nothing.',
    fields: GRANT,
    answered: {
      description: 'The remaining spins',
      content: json({
        remainingSpins: count(9, 'Spins that have not been played'),
        completed: { type: 'boolean', example: false },
      }),
    },
  }),
  callback('/v1/game/free-spins/cancel', {
    tag: 'Free spins',
    operationId: 'cancelFreeSpins',
    summary: 'Void the remaining spins of a grant',
    description:
      'Be idempotent on `externalRef`: the cancel of a whole batch is sent again if the instance that sent it died. ' +
      'Spins that were played before the call arrived remain valid.',
    fields: GRANT,
    answered: { description: 'Cancelled, or no spins were left; the body is ignored' },
  }),
  callback('/v1/game/session/revoke', {
    tag: 'Sessions',
    operationId: 'revokeSession',
    summary: "End a player's session",
    description:
      'The session has ended already, whether or not this call arrives: wallet calls with its token are a 401, except for ' +
      'replays and late settlement.',
    fields: {
      revocationRef: { type: 'string', format: 'uuid', description: 'Identifies this revocation' },
      sessionId: { type: 'string', format: 'uuid', description: 'As `session/verify` returned it' },
      ...PLAYER,
      reason: { type: 'string', enum: ['KICK', 'SELF_EXCLUSION', 'FRAUD_HOLD', 'OTHER'] },
      revokedAt: { type: 'string', format: 'date-time' },
    },
    answered: { description: 'Received; the body is ignored' },
  }),
];

type Callback = Pick<OutgoingCall, 'tag' | 'operationId' | 'summary' | 'description' | 'answered'> & {
  readonly fields: Readonly<Record<string, Schema>>;
};

function callback(path: CallbackRoute, { fields, description, ...call }: Callback): OutgoingCall {
  return {
    party: 'provider',
    path,
    ...call,
    description: SENT_ONCE + description,
    content: json(fields),
    otherwise: SINGLE_ATTEMPT,
  };
}

/** Documents a JSON object in which each of these fields is required. */
function json(properties: Readonly<Record<string, Schema>>): object {
  return {
    'application/json': { schema: { type: 'object', required: Object.keys(properties), properties } },
  };
}
