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
  const paths = mapValues(document.paths, (item, path) => {
    const changed = { ...item };
    for (const method of METHODS) {
      const operation = item[method];
      if (operation) changed[method] = change(operation, { path, method });
    }
    return changed;
  });
  return { ...document, paths };
}

/** Returns a copy of the document in which `change` has replaced each field of each schema. */
export function mapFields(
  document: OpenAPIObject,
  change: (field: object, name: string, schemaName: string) => object,
): OpenAPIObject {
  const schemas = mapValues(document.components?.schemas ?? {}, (schema, schemaName): object => {
    const { properties } = schema as { properties?: Readonly<Record<string, object>> };
    if (!properties) return schema;
    return {
      ...schema,
      properties: mapValues(properties, (field, name) => change(field, name, schemaName)),
    };
  });
  return { ...document, components: { ...document.components, schemas } };
}

export function mapValues<Value, Changed>(
  object: Readonly<Record<string, Value>>,
  change: (value: Value, name: string) => Changed,
): Record<string, Changed> {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value, name)]));
}

/** Whether the operation names this security scheme, or one whose name ends with it. */
export function isSecuredBy(operation: Operation, scheme: string): boolean {
  return (operation.security ?? []).some((one) => Object.keys(one).some((name) => name.endsWith(scheme)));
}
