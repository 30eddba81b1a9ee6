import { getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import { audienceOf } from './audiences.js';
import type { Operation } from './operations.js';

/**
 * The condition under which a field is required: another field, named by `requiredWhere`, has one of the values in
 * `is`. Otherwise, the field may be null or absent. All conditions of a class name the same field in `requiredWhere`.
 */
export interface RequiredWhere {
  readonly requiredWhere: string;
  readonly is: readonly unknown[];
}

/**
 * OpenAPI extension of a field's schema with the field's condition. `withBodyRules` moves the condition to the schema
 * of the class.
 */
export const REQUIRED_WHERE = 'x-required-where';

interface Body {
  readonly content?: Readonly<Record<string, { readonly schema?: { readonly $ref?: string } }>>;
}

interface Schema {
  readonly properties?: Readonly<
    Record<string, { readonly enum?: readonly unknown[]; readonly [REQUIRED_WHERE]?: RequiredWhere }>
  >;
}

/**
 * Documents the rules that concern a whole body: which value of a field requires which other fields, and whether
 * unknown fields are refused.
 */
export function withBodyRules(document: OpenAPIObject): OpenAPIObject {
  const strict = strictSchemas(document);
  const schemas = Object.entries(document.components?.schemas ?? {}).map(([name, schema]) => {
    const others = strict.has(getSchemaPath(name)) ? { additionalProperties: false } : {};
    return [name, { ...withCases(schema as Schema), ...others }] as const;
  });
  return { ...document, components: { ...document.components, schemas: Object.fromEntries(schemas) } };
}

/** Schemas of bodies that refuse unknown fields: all except those of providers. Contract, section 2. */
function strictSchemas(document: OpenAPIObject): Set<string | undefined> {
  const operations = Object.entries(document.paths)
    .filter(([path]) => audienceOf(path)?.name !== 'provider')
    .flatMap(([, item]) => Object.values(item) as Operation[]);
  const bodies = operations.map(({ requestBody }) => requestBody as Body | undefined);
  return new Set(
    bodies.flatMap((body) => Object.values(body?.content ?? {}).map(({ schema }) => schema?.$ref)),
  );
}

/** Lists each value of the field that the conditions name, with the fields that the value requires. */
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
