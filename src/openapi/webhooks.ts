import type { OpenAPIObject } from '@nestjs/swagger';

type Webhooks = NonNullable<OpenAPIObject['webhooks']>;
type Schema = Readonly<Record<string, unknown>>;

const HEADERS = {
  'X-Tenant-ID': "The provider's own identifier: the party that is called",
  'X-Timestamp': 'Unix time in seconds, decimal digits',
  'X-Nonce': 'Never used before; refuse one that comes again',
  'X-Signature':
    "HMAC-SHA256 over the canonical string, keyed with the provider's secret, 64 lower-case hex digits",
  'X-Request-Id': 'The id of the request behind it, where there is one; for the logs of both sides',
};

const SENT_ONCE =
  'Sent once to `webhookBaseUrl` and never again by itself, over a connection of its own, without following ' +
  'redirects; the whole answer must be there within `CALLBACK_TIMEOUT_MS` (10 s), and at most 64 KiB of it are ' +
  'read. Verify the signature over the raw body (`verifyPlatformSignature` of the SDK) before anything else, and ' +
  'answer 401 where it does not hold. ';

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
const BATCH = {
  externalRef: text('spins-7', "The provider's identifier of the batch, from the grant"),
  ...PLAYER,
};

/** What a provider implements: the platform's callbacks. Contract, section 6. */
export const WEBHOOKS: Webhooks = {
  '/v1/game/free-spins/grant': callback(
    'grantFreeSpins',
    'Grant free spins to a player',
    'Be idempotent on `requestRef`: a person may have a grant sent again whose answer was lost, and wants the same ' +
      '`externalRef` then. Anything but a 200 with an `externalRef` is a failure.',
    {
      requestRef: text(
        'summer-2026-player-42',
        "The platform's identifier of the grant; it may arrive again",
      ),
      ...PLAYER,
      spins: count(10, 'How many', 1),
      betAmountMinor: count(20, 'Stake of a spin in minor units; 0: your default stake'),
      currency: text('EUR', 'ISO 4217'),
    },
    {
      description: 'Granted',
      content: json({
        externalRef: text('spins-7', 'Your identifier of the batch; winnings name it as freeSpinsRef'),
      }),
    },
  ),
  '/v1/game/free-spins/status': callback(
    'freeSpinsStatus',
    'Say what is left of a batch',
    'Asked on demand, when somebody looks at the grant. It changes nothing.',
    BATCH,
    {
      description: 'What is left',
      content: json({
        remainingSpins: count(9, 'Spins not taken yet'),
        completed: { type: 'boolean', example: false },
      }),
    },
  ),
  '/v1/game/free-spins/cancel': callback(
    'cancelFreeSpins',
    'Void what is left of a batch',
    'Be idempotent on `externalRef`. A spin taken before it arrived stands.',
    BATCH,
    { description: 'Cancelled, or nothing was left; the body is ignored' },
  ),
  '/v1/game/session/revoke': callback(
    'revokeSession',
    "End a player's session",
    'The session is gone already, whether or not this arrives: every wallet call in it is a 401.',
    {
      revocationRef: { type: 'string', format: 'uuid', description: 'Names this revocation' },
      sessionId: { type: 'string', format: 'uuid', description: 'As `session/verify` named it' },
      ...PLAYER,
      reason: { type: 'string', enum: ['KICK', 'SELF_EXCLUSION', 'FRAUD_HOLD', 'OTHER'] },
      revokedAt: { type: 'string', format: 'date-time' },
    },
    { description: 'Taken note of; the body is ignored' },
  ),
};

function callback(
  operationId: string,
  summary: string,
  description: string,
  fields: Readonly<Record<string, Schema>>,
  answered: object,
): Webhooks[string] {
  const parameters = Object.entries(HEADERS).map(([name, said]) => ({
    name,
    in: 'header',
    required: name !== 'X-Request-Id',
    description: said,
    schema: { type: 'string' },
  }));
  const post = {
    tags: ['Provider'],
    operationId,
    summary,
    description: SENT_ONCE + description,
    security: [],
    parameters,
    requestBody: { required: true, content: json(fields) },
    responses: {
      200: answered,
      401: { description: 'The signature does not hold' },
      default: {
        description: 'A failure: the body goes to the error log of the platform, nothing is sent again',
      },
    },
  };
  return { post } as unknown as Webhooks[string];
}

/** A JSON object of whose fields all are there. */
function json(properties: Readonly<Record<string, Schema>>): object {
  return {
    'application/json': { schema: { type: 'object', required: Object.keys(properties), properties } },
  };
}
