import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXECUTED, executedTables, sectionOf } from './document.js';

/* Compares the tables of routes with the exported OpenAPI document, which another test compares with the service. */

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly oneOf?: readonly Schema[];
}

interface Operation {
  readonly parameters?: readonly { readonly name?: string; readonly in?: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly 'x-needed-role'?: string;
}

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const OPENAPI = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../docs/openapi/croupier.json'), 'utf8'),
) as Described;

/** A route of the contract. */
interface Route {
  readonly role?: string;
  /** The text in which its fields and query parameters must be named. */
  readonly text: string;
}

const ROUTE = /`(GET|POST|PUT|PATCH|DELETE) (\/[^`]*)`/g;

/** Every route of the contract, by method and full path. */
const routes = new Map<string, Route>(
  executedTables('routes').flatMap(({ section, heading, rows }) =>
    rows.flatMap((row): [string, Route][] => {
      const cell = (title: string) => row[heading.indexOf(title)];
      const linked = [...row.join(' ').matchAll(/\[(?:section )?(\d+)/g)].map(([, other]) => other!);
      // Section 7 describes the parameters that all lists have.
      const text = [...new Set([section, ...linked, '7'])].map(sectionOf).join('\n');
      const route: Route = { ...(cell('Role') && { role: cell('Role')! }), text };
      return [...(cell('Route') ?? '').matchAll(ROUTE)].flatMap(
        ([, method, path = '']): [string, Route][] => {
          if (/^\/(?:v1|health|metrics)(?:\/|$)/.test(path)) return [[`${method} ${path}`, route]];
          const ofAdmin: [string, Route] = [`${method} /v1/admin${path}`, route];
          const ofOperator: [string, Route] = [`${method} /v1/operator${path}`, { text }];
          return cell('For operators, too') === 'yes' ? [ofAdmin, ofOperator] : [ofAdmin];
        },
      );
    }),
  ),
);

const operations = Object.entries(OPENAPI.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
);

test('the tables of routes have exactly the operations of the OpenAPI document', () => {
  expect([...routes.keys()].sort()).toEqual(operations.map(([name]) => name).sort());
});

describe.each(operations)('%s', (name, operation) => {
  test('has the role of the table', () => {
    expect(routes.get(name)?.role).toBe(operation['x-needed-role']);
  });

  test('has only fields and query parameters that the section names', () => {
    expect(namesOf(operation).filter((field) => !names(routes.get(name)?.text ?? '', field))).toEqual([]);
  });
});

describe.each(Object.entries(OPENAPI.webhooks))('the call of %s', (path, { post }) => {
  const section = /^\/v1\//.test(path) ? '6' : '4';

  test('is in the table of calls, with its fields', () => {
    const row = sectionOf(section)
      .split('\n')
      .find((line) => new RegExp(`^\\| \`POST \\{\\w+BaseUrl\\}${path}\``).test(line));
    expect(row).toBeDefined();
    expect(namesOf(post!).filter((field) => !names(row!, field))).toEqual([]);
  });
});

test('every executed table is executed by a test', () => {
  const tests = readdirSync(import.meta.dirname)
    .map((name) => readFileSync(join(import.meta.dirname, name), 'utf8'))
    .join('\n');
  const run = [...tests.matchAll(/(?:executedTables?|documentedRows)(?:<.*>)?\(\s*'([\w-]+)'/g)];
  expect(new Set(run.map(([, name]) => name))).toEqual(new Set(EXECUTED));
});

/** The query parameters and the fields of the body. */
function namesOf({ parameters = [], requestBody }: Operation): string[] {
  const query = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name ?? '');
  const bodies = Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => schemasOf(schema));
  return [...query, ...bodies.flatMap(({ properties }) => Object.keys(properties ?? {}))];
}

/** The schema behind a reference, or each schema of a choice. */
function schemasOf(schema: Schema): Schema[] {
  const named =
    schema.$ref === undefined ? schema : OPENAPI.components.schemas[schema.$ref.split('/').at(-1)!]!;
  return named.oneOf?.flatMap(schemasOf) ?? [named];
}

/** Whether the text has the name in a code span. */
function names(text: string, name: string): boolean {
  return [...text.matchAll(/`[^`]+`/g)].some(([span]) => new RegExp(`\\b${name}\\b`).test(span));
}
