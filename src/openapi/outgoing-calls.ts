import type { Type } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';

/** A call from Croupier to a counterpart. All calls are signed POSTs. */
export interface OutgoingCall {
  /** The party that implements the call. */
  readonly party: 'provider' | 'operator';
  /** Path below the party's base URL. */
  readonly path: string;
  readonly tag: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** The content of the request body, as OpenAPI describes it. */
  readonly content: object;
  /** The OpenAPI response for a successful call. */
  readonly answered: object;
  /** How Croupier interprets any other answer. */
  readonly otherwise: string;
}

/** Every call from Croupier to a counterpart, for the OpenAPI documents. */
export class OutgoingCalls {
  /**
   * @param calls in the order in which the documents list them
   * @param models classes that the calls refer to as schemas
   */
  constructor(
    readonly calls: readonly OutgoingCall[],
    readonly models: Type<object>[],
  ) {}
}

type PathItem = OpenAPIObject['paths'][string];

const HEADERS: Readonly<Record<string, (party: string) => string>> = {
  'X-Tenant-ID': (party) => `The identifier of the ${party}, which is the party that is called`,
  'X-Timestamp': () => 'Unix time in seconds, decimal digits',
  'X-Nonce': () => 'Never used before; refuse a repeated one',
  'X-Signature': (party) =>
    `HMAC-SHA256 over the canonical string, keyed with the ${party}'s secret, 64 lower-case hex digits`,
  'X-Request-Id': () =>
    'The id of the request that caused the call, if there is one; for the logs of both sides',
};

/** Documents the call as an operation that its implementer serves. */
export function pathItemOf(call: OutgoingCall): PathItem {
  const { party, tag, operationId, summary, description, content, answered, otherwise } = call;
  const parameters = Object.entries(HEADERS).map(([name, words]) => ({
    name,
    in: 'header',
    required: name !== 'X-Request-Id',
    description: words(party),
    schema: { type: 'string' },
  }));
  const post = {
    tags: [tag],
    operationId,
    summary,
    description,
    security: [],
    parameters,
    requestBody: { required: true, content },
    responses: {
      200: answered,
      401: { description: 'The signature is invalid' },
      default: { description: otherwise },
    },
  };
  return { post } as unknown as PathItem;
}
