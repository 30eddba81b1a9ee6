import type { OpenAPIObject } from '@nestjs/swagger';
import { mapOperations } from './operations.js';

/** OpenAPI extension that tells tools which role the caller of an operation needs. */
export const NEEDED_ROLE = 'x-needed-role';

/** Says in each operation's description which role its caller needs. */
export function withRoles(document: OpenAPIObject): OpenAPIObject {
  return mapOperations(document, (operation) => {
    const role = (operation as { [NEEDED_ROLE]?: string })[NEEDED_ROLE];
    if (role === undefined) return operation;
    const needed =
      role === 'admin' ? 'Needs the role `admin`.' : `Needs the role \`${role}\` or one that includes it.`;
    return { ...operation, description: [operation.description, needed].filter(Boolean).join('\n\n') };
  });
}
