import type { OpenAPIObject } from '@nestjs/swagger';
import { BEYOND_PATTERN } from '../api/validation/schema-extensions.js';
import { FIELDS, PARAMETERS } from './field-descriptions.js';
import { mapOperations, type Operation, type Responses } from './operations.js';

interface Described {
  readonly description?: string;
  readonly schema?: Described;
  readonly [BEYOND_PATTERN]?: string;
}

interface Parameter extends Described {
  readonly name?: string;
}

/** Descriptions of answers that an operation does not describe itself. */
const ANSWERS: Readonly<Record<string, string>> = {
  '200': 'Success',
  '201': 'Created',
  '202': 'Accepted',
  '204': 'Done; the answer has no body',
};

/** Completes the descriptions of fields, parameters and answers. */
export function withDescriptions(document: OpenAPIObject): OpenAPIObject {
  const schemas = Object.entries(document.components?.schemas ?? {}).map(([name, schema]) => {
    const { properties } = schema as { properties?: Readonly<Record<string, Described>> };
    return [name, properties ? { ...schema, properties: ofFields(name, properties) } : schema] as const;
  });
  const components = { ...document.components, schemas: Object.fromEntries(schemas) };
  return mapOperations({ ...document, components } as OpenAPIObject, ofOperation);
}

function ofFields(schema: string, properties: Readonly<Record<string, Described>>): object {
  return Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [
      name,
      described(field, FIELDS[`${schema}.${name}`] ?? FIELDS[name]),
    ]),
  );
}

function ofOperation(operation: Operation): Operation {
  const parameters = (operation.parameters as Parameter[] | undefined)?.map((parameter) =>
    described(parameter, PARAMETERS[parameter.name ?? ''] ?? FIELDS[parameter.name ?? '']),
  );
  const responses = Object.entries(operation.responses).map(([status, response]) => [
    status,
    described(response as Described, ANSWERS[status]),
  ]);
  return {
    ...operation,
    ...(parameters && { parameters }),
    responses: Object.fromEntries(responses) as Responses,
  } as Operation;
}

/** @param usual the description of a part that has none */
function described({ schema, [BEYOND_PATTERN]: own, ...part }: Described, usual?: string): Described {
  const { [BEYOND_PATTERN]: beyond = own, ...kept } = schema ?? {};
  const description = [part.description || usual, beyond].filter(Boolean).join('; ');
  return { ...part, ...(description && { description }), ...(schema && { schema: kept }) };
}
