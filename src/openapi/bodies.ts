import { getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import { DIFFERS_WHERE, REQUIRED_WHERE, type RequiredWhere } from '../api/validation/schema-extensions.js';
import { audienceOf } from './audiences.js';
import type { Operation } from './operations.js';

interface Body {
  readonly content?: Readonly<Record<string, { readonly schema?: { readonly $ref?: string } }>>;
}

interface Field {
  readonly enum?: readonly string[];
  readonly type?: string | readonly string[];
  readonly [REQUIRED_WHERE]?: RequiredWhere;
  readonly [DIFFERS_WHERE]?: Readonly<Record<string, object | false>>;
}

interface Schema {
  readonly properties?: Readonly<Record<string, Field>>;
  readonly required?: readonly string[];
}

/**
 * Documents the rules that concern a whole body: which value of a field requires which other fields, and whether
 * unknown fields are refused.
 */
export function withBodyRules(document: OpenAPIObject): OpenAPIObject {
  const strict = strictSchemas(document);
  const schemas = Object.entries(document.components?.schemas ?? {}).flatMap(([name, schema]) => {
    const others = strict.has(getSchemaPath(name)) ? { additionalProperties: false } : {};
    return withCases(name, { ...(schema as Schema), ...others });
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

/**
 * The schema itself, or, if its fields have conditions, a choice between one complete schema for each value of the
 * deciding field. Generators lose the fields of a schema that has `properties` beside a choice.
 */
function withCases(name: string, schema: Schema): (readonly [string, object])[] {
  const fields = Object.entries(schema.properties ?? {});
  const [decidedBy] = fields.flatMap(([, field]) => field[REQUIRED_WHERE]?.requiredWhere ?? []);
  if (decidedBy === undefined) return [[name, schema]];
  const cases = (schema.properties?.[decidedBy]?.enum ?? []).map((value) => ({
    value,
    name: caseName(name, value),
    schema: caseOf(schema, decidedBy, value),
  }));
  const choice = {
    oneOf: cases.map((one) => ({ $ref: getSchemaPath(one.name) })),
    discriminator: {
      propertyName: decidedBy,
      mapping: Object.fromEntries(cases.map((one) => [one.value, getSchemaPath(one.name)])),
    },
  };
  return [[name, choice], ...cases.map((one) => [one.name, one.schema] as const)];
}

/** `BetRequest` for a BET of `TransactionRequest`, `WalletBetRequest` for one of `WalletTransactionRequest`. */
function caseName(name: string, value: string): string {
  return name.replace('Transaction', value.charAt(0) + value.slice(1).toLowerCase());
}

function caseOf(schema: Schema, decidedBy: string, value: string): object {
  const present = Object.entries(schema.properties ?? {}).filter(
    ([, field]) => field[DIFFERS_WHERE]?.[value] !== false,
  );
  const isRequired = (name: string, field: Field) =>
    schema.required?.includes(name) === true || field[REQUIRED_WHERE]?.is.includes(value) === true;
  const properties = present.map(([name, field]) => {
    const { [REQUIRED_WHERE]: where, [DIFFERS_WHERE]: differs, ...rest } = field;
    const own = {
      ...rest,
      ...(name === decidedBy && { enum: [value] }),
      ...(where && isRequired(name, field) && { type: typesWithoutNull(field.type) }),
      ...(differs?.[value] || {}),
    };
    return [name, own] as const;
  });
  return {
    ...schema,
    required: present.filter(([name, field]) => isRequired(name, field)).map(([name]) => name),
    properties: Object.fromEntries(properties),
  };
}

function typesWithoutNull(type: Field['type']): Field['type'] {
  const types = [type ?? []].flat().filter((one) => one !== 'null');
  return types.length === 1 ? types[0] : types;
}
