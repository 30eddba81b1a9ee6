import type { OpenAPIObject } from '@nestjs/swagger';
import { BEYOND_PATTERN } from '../api/validation/schema-extensions.js';
import { FIELDS, PARAMETERS } from './field-descriptions.js';
import { mapFields, mapOperations, type Operation, type Responses } from './operations.js';

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
  const withFields = mapFields(document, (field, name, schemaName) =>
    described(field, FIELDS[`${schemaName}.${name}`] ?? FIELDS[name]),
  );
  return mapOperations(withFields, ofOperation);
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
