import { Ajv, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import type { Reply } from '../world/world.js';

interface Media {
  schema?: object;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

interface DocumentedResponse {
  description: string;
  headers?: Record<
    string,
    { $ref?: string; description?: string; required?: boolean; schema?: { enum?: string[] } }
  >;
  content?: Record<string, Media>;
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: object;
  example?: unknown;
}

/** A field of a schema. */
export interface Field {
  description?: string;
  type?: string | string[];
}

export interface DocumentedOperation {
  operationId: string;
  tags: string[];
  description?: string;
  security: Record<string, unknown>[];
  parameters?: ({ $ref: string } | Parameter)[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, DocumentedResponse>;
}

/** One operation of the document, with its place. */
export interface Entry {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  /** Its audience: the word after /v1/ in its path; undefined if it belongs to all. */
  readonly audience: string | undefined;
  readonly operation: DocumentedOperation;
}

export interface OpenApi {
  info: { title: string; description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, DocumentedOperation>>;
  webhooks?: Record<string, Record<string, DocumentedOperation>>;
  components: {
    securitySchemes: Record<string, { type: string; in?: string; name?: string }>;
    schemas: Record<string, object>;
    headers: Record<string, { required?: boolean }>;
  };
}

/** The exported document and its schemas of answers, which must name every field. */
export class ApiDocument {
  readonly entries: Entry[];
  private readonly ajv = new Ajv({ strict: false, allErrors: true });

  constructor(readonly json: OpenApi) {
    formats.default(this.ajv);
    this.ajv.addSchema(closed(json) as object, 'api');
    this.entries = Object.entries(json.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => {
        const name = `${method.toUpperCase()} ${path}`;
        const audience = /^\/v1\/(\w+)\//.exec(path)?.[1];
        return { name, method: method.toUpperCase(), path, audience, operation };
      }),
    );
  }

  find(name: string): Entry {
    const entry = this.entries.find((candidate) => candidate.name === name);
    if (!entry) throw new Error(`${name} is not documented`);
    return entry;
  }

  /** The operation of a request: a literal path takes precedence over one with parameters. */
  match(method: string, target: string): Entry | undefined {
    const path = target.split('?')[0]!;
    const of = this.entries.filter((entry) => entry.method === method);
    const fits = ({ path: template }: Entry) =>
      new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path);
    return of.find((entry) => entry.path === path) ?? of.find(fits);
  }

  /** The fields of a schema; of a choice between schemas, those of all. Undefined if there is no such schema. */
  propertiesOf(schema: string): Record<string, Field> | undefined {
    const { properties, oneOf } = (this.json.components.schemas[schema] ?? {}) as {
      properties?: Record<string, Field>;
      oneOf?: { $ref: string }[];
    };
    if (!oneOf) return properties;
    return Object.assign(
      {},
      ...oneOf.map(({ $ref }) => this.propertiesOf($ref.split('/').at(-1)!)),
    ) as Record<string, Field>;
  }

  /** The differences between an answer and its documentation. */
  complaints({ name, path, method, operation }: Entry, reply: Reply): string[] {
    const about = `${name} answered ${reply.status}`;
    const response = operation.responses[reply.status];
    if (!response) return [`${about}, which is not documented: ${reply.text}`];
    const type = (reply.headers.get('content-type') ?? '').split(';')[0] ?? '';
    const media = response.content?.[type];
    if (response.content && !media) return [`${about} as ${type}, which is not documented`];
    const wrong = Object.entries(response.headers ?? {})
      .filter(([header, { schema }]) => schema?.enum?.includes(reply.headers.get(header) ?? '') === false)
      // The plain text of a signature's 401 has neither a code nor a next action.
      .filter(() => type === 'application/json')
      .map(([header]) => `${about} with ${header}: ${reply.headers.get(header)}`);
    wrong.push(
      ...Object.entries(response.headers ?? {})
        .filter(([, { required }]) => required && type === 'application/json')
        .filter(([header]) => !reply.headers.has(header))
        .map(([header]) => `${about} without ${header}`),
    );
    if (!reply.headers.has('x-request-id')) wrong.push(`${about} without an X-Request-Id`);
    if (!media?.schema) return wrong;
    const place = [
      'paths',
      path,
      method.toLowerCase(),
      'responses',
      String(reply.status),
      'content',
      type,
      'schema',
    ];
    const content: unknown = type === 'application/json' ? reply.json : reply.text;
    return [...wrong, ...this.invalid(place, content).map((words) => `${about}: ${words}`)];
  }

  /** The errors of a value according to the schema at this place of the document. */
  invalid(place: readonly string[], value: unknown): string[] {
    const pointer = place.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')));
    const validate = this.ajv.getSchema(`api#/${pointer.join('/')}`) as ValidateFunction;
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  }
}

/** The parameters of an operation's query. */
export function queryOf({ parameters = [] }: DocumentedOperation): Parameter[] {
  return parameters.filter(
    (parameter): parameter is Parameter => 'in' in parameter && parameter.in === 'query',
  );
}

/** Forbids other fields in every object that lists its fields. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (value === null || typeof value !== 'object') return value;
  const copy = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, closed(part)]));
  const named = copy['type'] === 'object' && copy['properties'] && copy['additionalProperties'] === undefined;
  return named ? { ...copy, additionalProperties: false } : copy;
}
