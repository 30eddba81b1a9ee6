import type { OpenAPIObject } from '@nestjs/swagger';

interface Field {
  readonly allOf?: readonly { readonly $ref?: string }[];
}

/**
 * Publishes a described field of another schema as a reference, which OpenAPI 3.1 allows beside a description, instead
 * of as `allOf` with one reference, of which generators make an intersection.
 */
export function withPlainReferences(document: OpenAPIObject): OpenAPIObject {
  const schemas = Object.entries(document.components?.schemas ?? {}).map(
    ([name, schema]): [string, object] => {
      const { properties } = schema as { properties?: Readonly<Record<string, Field>> };
      if (!properties) return [name, schema];
      const fields = Object.entries(properties).map(([field, own]): [string, object] => [field, plain(own)]);
      return [name, { ...schema, properties: Object.fromEntries(fields) }];
    },
  );
  const components = { ...document.components, schemas: Object.fromEntries(schemas) };
  return { ...document, components };
}

function plain({ allOf, ...field }: Field): object {
  const [only, ...more] = allOf ?? [];
  if (only?.$ref === undefined || more.length > 0) return { ...field, ...(allOf && { allOf }) };
  return { ...field, $ref: only.$ref };
}
