import type { OpenAPIObject } from '@nestjs/swagger';
import { REQUEST_ID } from '../http/server/request-log.js';
import { mapOperations, type Responses } from './operations.js';

const NAME = 'X-Request-Id';

/** Says that every answer has its request's id. Contract, section 2. */
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
    description: 'The one that was sent, or a new one; all log lines of the request have it too',
    schema: { type: 'string', pattern: REQUEST_ID.source },
  } as const;
  const headers = { ...described.components?.headers, [NAME]: header };
  return { ...described, components: { ...described.components, headers } };
}
