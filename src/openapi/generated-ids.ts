import type { OpenAPIObject } from '@nestjs/swagger';
import { EXAMPLE_TOKEN } from './examples.js';
import { mapOperations, type Operation } from './operations.js';

/** Ids that the service generates, and that a document therefore cannot name in advance. */
export interface GeneratedIds {
  readonly sessionToken: string;
  readonly sessionId: string;
  readonly batchId: string;
  readonly approvalId: string;
  readonly callbackId: string;
}

/** The document with ids of existing objects in its examples, so that a reader can execute the examples unchanged. */
export function withGeneratedIds(document: OpenAPIObject, ids: GeneratedIds): OpenAPIObject {
  const { sessionToken, ...inPaths } = ids;
  const byName = new Map<string, string>(Object.entries(inPaths));
  const named = mapOperations(document, (operation) => {
    const parameters = (operation.parameters as { name: string; in: string }[] | undefined)?.map(
      (parameter) => {
        const example = parameter.in === 'path' ? byName.get(parameter.name) : undefined;
        return example === undefined ? parameter : { ...parameter, example };
      },
    );
    return { ...operation, ...(parameters && { parameters }) } as Operation;
  });
  return JSON.parse(JSON.stringify(named).replaceAll(EXAMPLE_TOKEN, sessionToken)) as OpenAPIObject;
}
