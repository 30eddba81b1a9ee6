import type { Type } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import type { OutgoingCall } from '../openapi/outgoing-calls.js';
import { FREE_SPINS_REF_SCHEMA, FREE_SPINS_REF_WORDS } from '../api/validation/free-spins-ref.js';

/*
 * The calls to providers, with their bodies and the answers that Croupier reads, for the OpenAPI documents. Contract,
 * section 6.
 */

/** The routes that a provider implements. */
export const CALLBACK_ROUTES = [
  '/v1/game/free-spins/grant',
  '/v1/game/free-spins/status',
  '/v1/game/free-spins/cancel',
  '/v1/game/session/revoke',
] as const;
export type CallbackRoute = (typeof CALLBACK_ROUTES)[number];

const PlayerRef = () => ApiProperty({ example: 'player-42' });
const GameId = () => ApiProperty({ example: 'sandbox-slots' });

class GrantCallbackRequest {
  @ApiProperty({
    example: 'summer-2026-player-42',
    description: "The platform's identifier of the grant; it may arrive again",
  })
  requestRef: string;

  @PlayerRef()
  playerRef: string;

  @GameId()
  gameId: string;

  @ApiProperty({ type: 'integer', minimum: 1, example: 10, description: 'Number of spins' })
  spins: number;

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    example: 20,
    description: 'Stake of a spin in minor units; 0: your default stake',
  })
  betAmountMinor: number;

  @ApiProperty({ example: 'EUR', pattern: '^[A-Z]{3}$' })
  currency: string;
}

class GrantCallbackResponse {
  @ApiProperty({
    ...FREE_SPINS_REF_SCHEMA,
    example: 'spins-7',
    description: `Your identifier of the grant, which winnings name as freeSpinsRef: ${FREE_SPINS_REF_WORDS}`,
  })
  externalRef: string;
}

class StatusCallbackRequest {
  @ApiProperty({ example: 'spins-7' })
  externalRef: string;

  @PlayerRef()
  playerRef: string;

  @GameId()
  gameId: string;
}

class StatusCallbackResponse {
  @ApiProperty({ type: 'integer', minimum: 0, example: 9 })
  remainingSpins: number;

  @ApiProperty({ example: false })
  completed: boolean;
}

class CancelCallbackRequest extends StatusCallbackRequest {}

class RevokeCallbackRequest {
  @ApiProperty({ format: 'uuid', description: 'Identifies this revocation' })
  revocationRef: string;

  @ApiProperty({ format: 'uuid', description: 'As `session/verify` returned it' })
  sessionId: string;

  @PlayerRef()
  playerRef: string;

  @GameId()
  gameId: string;

  @ApiProperty({ enum: ['KICK', 'SELF_EXCLUSION', 'FRAUD_HOLD', 'OTHER'], description: 'Why it was revoked' })
  reason: string;

  @ApiProperty({ format: 'date-time' })
  revokedAt: string;
}

const SENT_ONCE =
  'Sent once to `webhookBaseUrl`, over a new connection and without following redirects; not repeated after a ' +
  'failure. The whole answer must arrive within `CALLBACK_TIMEOUT_MS` (10 s), and at most 64 KiB of it are ' +
  'read. Verify the signature over the raw body (`verifyPlatformSignature` of the SDK) before anything else, and ' +
  'answer 401 if it is invalid. ';

const SINGLE_ATTEMPT =
  "A failure: the body goes to the platform's error log, and the callback is not repeated";

/** The calls that a provider implements. */
export const PROVIDER_CALLBACKS: readonly OutgoingCall[] = [
  callback('/v1/game/free-spins/grant', GrantCallbackRequest, {
    tag: 'Free spins',
    operationId: 'awardFreeSpins',
    summary: 'Grant free spins to a player',
    description:
      'Be idempotent on `requestRef`: a person may send a grant again if its answer was lost, and needs the same ' +
      '`externalRef`. Anything but a 200 with an `externalRef` is a failure.',
    answered: { description: 'Granted', type: GrantCallbackResponse },
  }),
  callback('/v1/game/free-spins/status', StatusCallbackRequest, {
    tag: 'Free spins',
    operationId: 'reportRemainingSpins',
    summary: 'Report the remaining spins of a grant',
    description:
      'Called on demand: when somebody asks for the remaining spins of a grant, or of all grants of a batch. It ' +
      'changes nothing.',
    answered: { description: 'The remaining spins', type: StatusCallbackResponse },
  }),
  callback('/v1/game/free-spins/cancel', CancelCallbackRequest, {
    tag: 'Free spins',
    operationId: 'voidRemainingSpins',
    summary: 'Void the remaining spins of a grant',
    description:
      'Be idempotent on `externalRef`: the cancel of a whole batch, or of spins that expire, is sent again if the ' +
      'instance that sent it died. ' +
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
    body: { type: body },
    otherwise: SINGLE_ATTEMPT,
  };
}
