import type { Type } from '@nestjs/common';
import { getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import { SIGNED } from './signature.js';

/** A call from Croupier to a counterpart. All calls are signed POSTs. */
export interface OutgoingCall {
  readonly party: 'provider' | 'operator';
  /** Path below the party's base URL. */
  readonly path: string;
  readonly tag: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly body: JsonContent;
  /** The answer to a successful call. Without a type, its body is ignored. */
  readonly answered: Partial<JsonContent> & { readonly description: string };
  /** How Croupier interprets any other answer. */
  readonly otherwise: string;
}

/** A JSON object of this class. Without `examples`, the documents derive an example from the class. */
interface JsonContent {
  readonly type: Type<object>;
  readonly examples?: object;
}

/** Every call from Croupier to a counterpart, in the order in which the OpenAPI documents list them. */
export class OutgoingCalls {
  constructor(readonly calls: readonly OutgoingCall[]) {}

  /** The classes to which the calls refer as schemas. */
  get models(): Type<object>[] {
    return this.calls.flatMap(({ body, answered }) => [body.type, answered.type ?? []].flat());
  }
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
  const { tag, operationId, summary, description, body, answered, otherwise } = call;
  const post = {
    tags: [tag],
    operationId,
    summary,
    description,
    security: SIGNED,
    parameters: [REQUEST_ID],
    requestBody: { required: true, ...contentOf(body) },
    responses: {
      200: { description: answered.description, ...contentOf(answered) },
      401: { description: 'The signature is invalid' },
      default: { description: otherwise },
    },
  };
  return { post } as unknown as PathItem;
}

function contentOf({ type, examples }: Partial<JsonContent>): object {
  if (type === undefined) return {};
  return {
    content: { 'application/json': { schema: { $ref: getSchemaPath(type) }, ...(examples && { examples }) } },
  };
}
