import type { OpenAPIObject } from '@nestjs/swagger';
import { mapFields } from './operations.js';

interface Field {
  readonly allOf?: readonly { readonly $ref?: string }[];
}

/**
 * Publishes a described field of another schema as a reference, which OpenAPI 3.1 allows beside a description, instead
 * of as `allOf` with one reference, of which generators make an intersection.
 */
export function withPlainReferences(document: OpenAPIObject): OpenAPIObject {
  return mapFields(document, plain);
}

function plain({ allOf, ...field }: Field): object {
  const [only, ...more] = allOf ?? [];
  if (only?.$ref === undefined || more.length > 0) return { ...field, ...(allOf && { allOf }) };
  return { ...field, $ref: only.$ref };
}
