import type { OpenAPIObject } from '@nestjs/swagger';
import { mapOperations } from './operations.js';

/** A group of readers that has its own document and page, at `/docs/<name>`. */
export interface Audience {
  readonly name: 'provider' | 'operator' | 'admin';
  readonly pathPrefix: string;
  readonly title: string;
  readonly summary: string;
  readonly sections: readonly number[];
}

export const AUDIENCES: readonly Audience[] = [
  {
    name: 'provider',
    pathPrefix: '/v1/wallet/',
    title: 'Croupier for game providers',
    summary:
      'What a game provider calls: sessions, transactions and balances; and, under Webhooks, what Croupier calls at the provider.',
    sections: [1, 2, 3, 6, 9],
  },
  {
    name: 'operator',
    pathPrefix: '/v1/operator/',
    title: 'Croupier for operators',
    summary:
      'What an operator calls: launching and revoking sessions, free spins for its players, reading what is its own; and, under Webhooks, what Croupier calls at the wallet, also as [a document of its own](/docs/operator-wallet-json) for generating a server.',
    sections: [1, 2, 3, 4, 5, 6, 9],
  },
  {
    name: 'admin',
    pathPrefix: '/v1/admin/',
    title: 'Croupier for administrators',
    summary: 'What administrators call: configuration, support, free spins, keys and the audit log.',
    sections: [2, 6, 7, 9],
  },
];

/** The audience of an operation; undefined if the operation concerns all audiences, such as the service's health. */
export function audienceOf(path: string): Audience | undefined {
  return AUDIENCES.find(({ pathPrefix }) => path.startsWith(pathPrefix));
}

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
