import type { OpenAPIObject } from '@nestjs/swagger';
import { REQUEST_ID } from '../observability/trace.js';
import { mapOperations, type Responses } from './operations.js';

const NAME = 'X-Request-Id';

/** Adds the `X-Request-Id` header to every documented answer. Contract, section 2. */
export function withRequestId(document: OpenAPIObject): OpenAPIObject {
  const reference = { [NAME]: { $ref: `#/components/headers/${NAME}` } };
  const described = mapOperations(document, (operation) => {
    const responses = Object.entries(operation.responses).map(([status, response]) => {
      const { headers } = response as { headers?: object };
      return [status, { ...response, headers: { ...headers, ...reference } }] as const;
    });
    return { ...operation, responses: Object.fromEntries(responses) as Responses };
  });
  const header = {
    description: 'The id that was sent, or a new one; also on all log lines of the request',
    required: true,
    schema: { type: 'string', pattern: REQUEST_ID.source },
  } as const;
  const headers = { ...described.components?.headers, [NAME]: header };
  return { ...described, components: { ...described.components, headers } };
}
