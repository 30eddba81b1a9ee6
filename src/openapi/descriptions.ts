import type { OpenAPIObject } from '@nestjs/swagger';
import { BEYOND_PATTERN } from '../api/validation/schema-extensions.js';
import { FIELDS, PARAMETERS } from './field-descriptions.js';
import { mapFields, mapOperations, mapValues, type Operation } from './operations.js';

/** OpenAPI extension that tells tools which role the caller of an operation needs. */
export const NEEDED_ROLE = 'x-needed-role';

interface Described {
  readonly description?: string;
  readonly schema?: Described;
  readonly allOf?: readonly { readonly $ref?: string }[];
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

export function withDescriptions(document: OpenAPIObject): OpenAPIObject {
  const withFields = mapFields(document, (field, name, schemaName) =>
    described(withPlainReference(field), FIELDS[`${schemaName}.${name}`] ?? FIELDS[name]),
  );
  return mapOperations(withFields, ofOperation);
}

function ofOperation(operation: Operation): Operation {
  const parameters = (operation.parameters as Parameter[] | undefined)?.map((parameter) =>
    described(parameter, PARAMETERS[parameter.name ?? ''] ?? FIELDS[parameter.name ?? '']),
  );
  const responses = mapValues(operation.responses, (response, status) =>
    described(response as Described, ANSWERS[status]),
  );
  return { ...operation, ...(parameters && { parameters }), responses } as Operation;
}

/** @param usual the description of a part that has none */
function described({ schema, [BEYOND_PATTERN]: own, ...part }: Described, usual?: string): Described {
  const { [BEYOND_PATTERN]: beyond = own, ...kept } = schema ?? {};
  const description = [part.description || usual, beyond].filter(Boolean).join('; ');
  return { ...part, ...(description && { description }), ...(schema && { schema: kept }) };
}

/**
 * Publishes a described field of another schema as a reference, which OpenAPI 3.1 allows beside a description, instead
 * of as `allOf` with one reference, of which generators make an intersection.
 */
function withPlainReference({ allOf, ...field }: Described): Described {
  const [only, ...more] = allOf ?? [];
  if (only?.$ref === undefined || more.length > 0) return { ...field, ...(allOf && { allOf }) };
  return { ...field, $ref: only.$ref } as Described;
}

/** Says in each operation's description which role its caller needs. */
export function withRoles(document: OpenAPIObject): OpenAPIObject {
  return mapOperations(document, (operation) => {
    const role = (operation as { [NEEDED_ROLE]?: string })[NEEDED_ROLE];
    if (role === undefined) return operation;
    const needed =
      role === 'admin' ? 'Needs the role `admin`.' : `Needs the role \`${role}\` or one that includes it.`;
    return { ...operation, description: [operation.description, needed].filter(Boolean).join('\n\n') };
  });
}
