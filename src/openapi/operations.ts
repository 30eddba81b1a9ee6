import type { OpenAPIObject } from '@nestjs/swagger';

type PathItem = OpenAPIObject['paths'][string];
export type Operation = NonNullable<PathItem['get']>;
export type Responses = Operation['responses'];

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;

/** The path and method that identify an operation. */
export interface Place {
  readonly path: string;
  readonly method: (typeof METHODS)[number];
}

/** Returns a copy of the document in which `change` has replaced each operation. */
export function mapOperations(
  document: OpenAPIObject,
  change: (operation: Operation, at: Place) => Operation,
): OpenAPIObject {
  const paths = Object.entries(document.paths).map(([path, item]) => {
    const changed = { ...item };
    for (const method of METHODS) {
      const operation = item[method];
      if (operation) changed[method] = change(operation, { path, method });
    }
    return [path, changed] as const;
  });
  return { ...document, paths: Object.fromEntries(paths) };
}

/** Returns a copy of the document in which `change` has replaced each field of each schema. */
export function mapFields(
  document: OpenAPIObject,
  change: (field: object, name: string, schemaName: string) => object,
): OpenAPIObject {
  const schemas = Object.entries(document.components?.schemas ?? {});
  const changed = schemas.map(([schemaName, schema]): [string, object] => {
    const { properties } = schema as { properties?: Readonly<Record<string, object>> };
    if (!properties) return [schemaName, schema];
    const fields = Object.entries(properties).map(([name, field]): [string, object] => [
      name,
      change(field, name, schemaName),
    ]);
    return [schemaName, { ...schema, properties: Object.fromEntries(fields) }];
  });
  const components = { ...document.components, schemas: Object.fromEntries(changed) };
  return { ...document, components };
}

/** Whether the operation names this security scheme, or one whose name ends with it. */
export function isSecuredBy(operation: Operation, scheme: string): boolean {
  return (operation.security ?? []).some((one) => Object.keys(one).some((name) => name.endsWith(scheme)));
}
