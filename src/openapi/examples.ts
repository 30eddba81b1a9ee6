import type { OpenAPIObject } from '@nestjs/swagger';
import { mapOperations, mapValues, type Operation } from './operations.js';

interface Schema {
  $ref?: string;
  type?: string;
  format?: string;
  enum?: unknown[];
  example?: unknown;
  default?: unknown;
  minimum?: number;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
}

interface Media {
  schema?: Schema;
  example?: unknown;
  examples?: object;
}

interface Parameter {
  name?: string;
  in?: string;
  required?: boolean;
  description?: string;
  schema?: Schema;
  example?: unknown;
}

type Content = Record<string, Media> | undefined;

/** The session token in the examples. The pages of a sandbox replace it with the token of an existing session. */
export const EXAMPLE_TOKEN = 'k0mZ3vE2yq1c7tT9fL4oXWb8sNhRjPdUaGiKxQeVwYA';

/**
 * Example ids for path parameters. The first entry that matches a parameter's name and path applies. The sandbox
 * creates the objects with these ids (`sandbox/examples.ts`). A person who sends an example request from a page
 * therefore changes no tenant in use.
 */
const IN_PATHS: readonly {
  readonly name: string;
  readonly path: RegExp;
  readonly example?: string;
  /** How a reader finds an id that the service generates. */
  readonly description?: string;
}[] = [
  { name: 'id', path: /\/attention\//, description: 'From `GET /v1/admin/attention`' },
  { name: 'id', path: /\/reconciliations\//, description: 'From `GET /v1/admin/reconciliations`' },
  { name: 'id', path: /\/keys\//, description: 'From `GET /v1/admin/keys`' },
  { name: 'batchId', path: /\/admin\//, description: 'From `GET /v1/admin/free-spins/batches`' },
  { name: 'batchId', path: /\/operator\//, description: 'From `GET /v1/operator/free-spins/batches`' },
  { name: 'approvalId', path: /\/admin\//, description: 'From `GET /v1/admin/approvals`' },
  { name: 'sessionId', path: /\/admin\//, description: 'From `GET /v1/admin/sessions`' },
  { name: 'sessionId', path: /\/operator\//, description: 'From `GET /v1/operator/sessions`' },
  { name: 'id', path: /\/operators\//, example: 'example-casino' },
  { name: 'id', path: /\/providers\//, example: 'acme-games' },
  { name: 'id', path: /\/games\//, example: 'book-of-examples' },
  { name: 'gameId', path: /\/games\//, example: 'book-of-examples' },
  { name: 'operatorId', path: /./, example: 'example-casino' },
  { name: 'currency', path: /./, example: 'EUR' },
  { name: 'providerId', path: /\/transactions\//, example: 'platform' },
  { name: 'providerId', path: /\/rounds\//, example: 'sandbox-provider' },
  { name: 'roundId', path: /./, example: 'round-7' },
  { name: 'transactionId', path: /./, example: 'adjustment-4711' },
  { name: 'requestRef', path: /./, example: 'summer-2026-player-42' },
  { name: 'playerRef', path: /./, example: 'player-43' },
  { name: 'callbackId', path: /./, example: '1' },
];

const OF_FORMAT: Record<string, string> = {
  uuid: '0b7c3c1e-52a1-4c0b-9d38-6a0f3f6f2d11',
  'date-time': '2026-03-01T10:00:00.000Z',
};

/**
 * Adds an example to each body without one. The example contains the required properties and the properties that have
 * an example. A new operation therefore only needs examples on its fields.
 */
export function withExamples(document: OpenAPIObject): OpenAPIObject {
  const schemas = (document.components?.schemas ?? {}) as Record<string, Schema>;
  const withExample = (content: Content) =>
    content &&
    mapValues(content, (media) => {
      const has = media.example !== undefined || media.examples !== undefined || !media.schema;
      return has ? media : { ...media, example: exampleOf(media.schema!, schemas) };
    });
  return mapOperations(document, (operation, { path }) => {
    const { parameters, requestBody, responses } = operation as unknown as {
      parameters?: Parameter[];
      requestBody?: { content?: Content };
      responses: Record<string, { content?: Content }>;
    };
    return {
      ...operation,
      ...(parameters && { parameters: parameters.map((parameter) => filled(parameter, path)) }),
      ...(requestBody && { requestBody: { ...requestBody, content: withExample(requestBody.content) } }),
      responses: mapValues(responses, (response) =>
        response.content ? { ...response, content: withExample(response.content) } : response,
      ),
    } as Operation;
  });
}

/**
 * Swagger's pages fill in every parameter that has an example. Path parameters and required ones keep their example.
 * The example of an optional filter moves to its description, so that the page does not apply the filter.
 */
function filled(parameter: Parameter, path: string): Parameter {
  if (parameter.in === 'path') return inPath(parameter, path);
  const { example, ...schema } = parameter.schema ?? {};
  if (parameter.in !== 'query' || parameter.required === true || example === undefined) return parameter;
  const words = [parameter.description, `such as \`${example as string}\``].filter(Boolean).join('; ');
  return { ...parameter, schema, description: words };
}

function inPath(parameter: Parameter, path: string): Parameter {
  const known = IN_PATHS.find((one) => one.name === parameter.name && one.path.test(path));
  const example = known?.example ?? OF_FORMAT[parameter.schema?.format ?? ''];
  const description = parameter.description ?? known?.description;
  return {
    ...parameter,
    ...(description !== undefined && { description }),
    ...(example !== undefined && { example }),
  };
}

function exampleOf(schema: Schema, schemas: Record<string, Schema>): unknown {
  if (schema.example !== undefined) return schema.example;
  const named = schema.$ref && schemas[schema.$ref.slice('#/components/schemas/'.length)];
  if (named) return exampleOf(named, schemas);
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((part) => exampleOf(part, schemas)));
  const [choice] = schema.oneOf ?? schema.anyOf ?? [];
  if (choice) return exampleOf(choice, schemas);
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  switch (schema.type) {
    case 'array':
      return schema.items ? [exampleOf(schema.items, schemas)] : [];
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {})
          .filter(([name, { example }]) => example !== undefined || schema.required?.includes(name))
          .map(([name, property]) => [name, exampleOf(property, schemas)]),
      );
    case 'integer':
    case 'number':
      return schema.minimum ?? 0;
    case 'boolean':
      return true;
    default:
      return OF_FORMAT[schema.format ?? ''] ?? 'text';
  }
}

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
