import type { OpenAPIObject } from '@nestjs/swagger';
import { audienceOf } from './audiences.js';
import { mapOperations } from './operations.js';

/**
 * Makes the operation ids unique: an operation of administrators that operators have, too, such as `grantFreeSpins`, is
 * `grantFreeSpinsAsAdmin`. Generators name functions after the ids.
 */
export function withOperationIds(document: OpenAPIObject): OpenAPIObject {
  const ofOperators = new Set<string | undefined>();
  mapOperations(document, (operation, { path }) => {
    if (audienceOf(path)?.name === 'operator') ofOperators.add(operation.operationId);
    return operation;
  });
  return mapOperations(document, (operation, { path }) => {
    const { operationId } = operation;
    if (audienceOf(path)?.name !== 'admin' || !ofOperators.has(operationId)) return operation;
    return { ...operation, operationId: `${operationId}AsAdmin` };
  });
}
