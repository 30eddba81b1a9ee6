import type { Type } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { SIGNED } from './signature.js';

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

const REQUEST_ID = {
  name: 'X-Request-Id',
  in: 'header',
  required: false,
  description: 'The id of the request that caused the call, if there is one; for the logs of both sides',
  schema: { type: 'string' },
};

/** Documents the call as an operation that its implementer serves. */
export function pathItemOf(call: OutgoingCall): PathItem {
  const { tag, operationId, summary, description, content, answered, otherwise } = call;
  const post = {
    tags: [tag],
    operationId,
    summary,
    description,
    security: SIGNED,
    parameters: [REQUEST_ID],
    requestBody: { required: true, content },
    responses: {
      200: answered,
      401: { description: 'The signature is invalid' },
      default: { description: otherwise },
    },
  };
  return { post } as unknown as PathItem;
}
