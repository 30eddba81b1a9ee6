import { getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import type { Operation } from './operations.js';

/** May be null or left out, unless another field is one of these values; each that it can have makes some field required. */
export interface RequiredWhere {
  readonly requiredWhere: string;
  readonly is: readonly unknown[];
}

/** Under which a field's schema says so, until the class's own does. */
export const REQUIRED_WHERE = 'x-required-where';

interface Body {
  readonly content?: Readonly<Record<string, { readonly schema?: { readonly $ref?: string } }>>;
}

interface Schema {
  readonly properties?: Readonly<Record<string, { readonly [REQUIRED_WHERE]?: RequiredWhere }>>;
}

/** Says what the fields of a body do not say each by itself: which requires which, and that there are no others. */
export function withWholeBodies(document: OpenAPIObject): OpenAPIObject {
  const strict = strictSchemas(document);
  const schemas = Object.entries(document.components?.schemas ?? {}).map(([name, schema]) => {
    const others = strict.has(getSchemaPath(name)) ? { additionalProperties: false } : {};
    return [name, { ...withCases(schema as Schema), ...others }] as const;
  });
  return { ...document, components: { ...document.components, schemas: Object.fromEntries(schemas) } };
}

/** Providers alone may send unknown fields. Contract, section 2. */
function strictSchemas(document: OpenAPIObject): Set<string | undefined> {
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item) as Operation[]);
  const bodies = operations
    .filter(({ tags }) => !tags?.includes('Provider'))
    .map(({ requestBody }) => requestBody as Body | undefined);
  return new Set(
    bodies.flatMap((body) => Object.values(body?.content ?? {}).map(({ schema }) => schema?.$ref)),
  );
}

/** What is required where is told case by case, which a reader of the page sees beside each other. */
function withCases(schema: Schema): object {
  const cases = new Map<string, { where: RequiredWhere; names: string[] }>();
  const properties = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const { [REQUIRED_WHERE]: where, ...rest } = property;
    if (where) {
      const key = JSON.stringify(where);
      cases.set(key, { where, names: [...(cases.get(key)?.names ?? []), name] });
    }
    return [name, rest] as const;
  });
  if (cases.size === 0) return schema;
  const anyOf = [...cases.values()].map(({ where: { requiredWhere, is }, names }) => ({
    required: names,
    properties: {
      [requiredWhere]: { enum: is },
      ...Object.fromEntries(names.map((name) => [name, { not: { type: 'null' } }])),
    },
  }));
  return { ...schema, properties: Object.fromEntries(properties), anyOf };
}
