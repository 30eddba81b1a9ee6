import { getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import { audienceOf } from './audiences.js';
import type { Operation } from './operations.js';

/** May be null or left out, unless another field is one of these values. All conditions of a class name the same field. */
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
  readonly properties?: Readonly<
    Record<string, { readonly enum?: readonly unknown[]; readonly [REQUIRED_WHERE]?: RequiredWhere }>
  >;
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
  const operations = Object.entries(document.paths)
    .filter(([path]) => audienceOf(path)?.name !== 'provider')
    .flatMap(([, item]) => Object.values(item) as Operation[]);
  const bodies = operations.map(({ requestBody }) => requestBody as Body | undefined);
  return new Set(
    bodies.flatMap((body) => Object.values(body?.content ?? {}).map(({ schema }) => schema?.$ref)),
  );
}

/** Lists each case of the deciding field with what it requires, which a reader of the page sees beside each other. */
function withCases(schema: Schema): object {
  const entries = Object.entries(schema.properties ?? {});
  const conditions = entries.flatMap(([name, property]) => {
    const where = property[REQUIRED_WHERE];
    return where ? [{ name, ...where }] : [];
  });
  const decidedBy = conditions[0]?.requiredWhere;
  if (decidedBy === undefined) return schema;
  const cases = new Map<string, { values: unknown[]; names: string[] }>();
  for (const value of schema.properties?.[decidedBy]?.enum ?? []) {
    const names = conditions.filter(({ is }) => is.includes(value)).map(({ name }) => name);
    const values = cases.get(names.join())?.values ?? [];
    cases.set(names.join(), { values: [...values, value], names });
  }
  const anyOf = [...cases.values()].map(({ values, names }) => ({
    ...(names.length > 0 && { required: names }),
    properties: {
      [decidedBy]: { enum: values },
      ...Object.fromEntries(names.map((name) => [name, { not: { type: 'null' } }])),
    },
  }));
  const properties = entries.map(([name, { [REQUIRED_WHERE]: _, ...rest }]) => [name, rest] as const);
  return { ...schema, properties: Object.fromEntries(properties), anyOf };
}
