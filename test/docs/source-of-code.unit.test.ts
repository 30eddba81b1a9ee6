import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';
import { describe, expect, test } from 'vitest';
import { FIELDS, PARAMETERS } from '../../src/openapi/field-descriptions.js';
import type { OpenApi } from './document.js';

/*
 * What code generators need of the documents. docs/openapi/ is compared with the service by exports.test.ts, and
 * generated.long.test.ts runs generators.
 */

const FOLDER = join(import.meta.dirname, '../../docs/openapi');
const NAMES = ['croupier', 'provider', 'operator', 'admin', 'operator-wallet'];
const documents = new Map(
  NAMES.map((name) => [name, JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8')) as OpenApi]),
);

interface Node {
  readonly path: readonly string[];
  readonly node: Readonly<Record<string, unknown>>;
}

/** Keywords whose values are data. */
const DATA = new Set(['example', 'examples', 'default', 'enum', 'mapping']);

/** Every object of a document, with its place. */
function* nodes(node: unknown, path: readonly string[] = []): Generator<Node> {
  if (node === null || typeof node !== 'object') return;
  if (!Array.isArray(node)) yield { path, node: node as Node['node'] };
  for (const [key, value] of Object.entries(node)) {
    const isKeyword = path.at(-1) !== 'properties' && path.at(-1) !== 'schemas';
    if (!(isKeyword && DATA.has(key))) yield* nodes(value, [...path, key]);
  }
}

const operationsOf = ({ paths, webhooks = {} }: OpenApi) =>
  Object.entries({ ...paths, ...webhooks }).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
  );

/** Texts with which the engines are compared: each character of Latin-1, and what patterns often get wrong. */
const TEXTS = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).concat(
  ['', 'Acme Games', 'player-42', 'EUR', 'en', 'pt-BR', 'DE', 'a\n', '😀', '日本', 'é', '٣٣', '\u2028'],
  ['2026-01-31', '2026-01-31T00:00:00.5+01:00', '0b7c3c1e-52a1-4c0b-9d38-6a0f3f6f2d11', 'x'.repeat(2049)],
);

describe.each(NAMES)('%s.json', (name) => {
  const document = documents.get(name)!;
  const all = [...nodes(document)];

  test('has only patterns that RE2 compiles and that mean the same in every engine', () => {
    const patterns = new Set(
      all.flatMap(({ node: { pattern } }) => (typeof pattern === 'string' ? pattern : [])),
    );
    expect(patterns.size).toBeGreaterThan(0);
    for (const pattern of patterns) {
      const engines = [new RegExp(pattern), new RegExp(pattern, 'u')];
      const re2 = RE2JS.compile(pattern);
      for (const text of TEXTS) {
        const found = [...engines.map((engine) => engine.test(text)), re2.matcher(text).find()];
        expect({ pattern, text, found }).toEqual({ pattern, text, found: found.map(() => found[0]) });
      }
    }
  });

  test('has no integer without a format, and 64 bits for each amount', () => {
    const integers = all.filter(({ node: { type } }) => [type].flat().includes('integer'));
    expect(integers.length).toBeGreaterThan(1);
    const of = ({ path, node }: Node) => `${path.join('/')}: ${String(node['format'])}`;
    expect(
      integers.filter(({ node: { format } }) => format !== 'int64' && format !== 'int32').map(of),
    ).toEqual([]);
    const wrong = integers.filter(({ path, node: { format, minimum, maximum } }) => {
      const isAmount = /Minor$|^balance$/.test(path.at(-1)!);
      const exceeds = [minimum, maximum].some((bound) => Math.abs(Number(bound ?? 0)) >= 2 ** 31);
      return (isAmount || exceeds) && format !== 'int64';
    });
    expect(wrong.map(of)).toEqual([]);
  });

  test('has no fields beside a choice between schemas', () => {
    const choices = all.filter(({ node }) => ['oneOf', 'anyOf', 'allOf'].some((keyword) => keyword in node));
    expect(
      choices.filter(({ node }) => 'properties' in node || 'required' in node).map(({ path }) => path),
    ).toEqual([]);
  });

  test('names its operations in words, each once, in the manner of a function', () => {
    const ids = operationsOf(document).map(({ operation }) => operation.operationId);
    expect(ids.filter((id) => !/^[a-z]+(?:[A-Z][a-z]*)*$/.test(id) || /controller/i.test(id))).toEqual([]);
    expect(ids).toHaveLength(new Set(ids).size);
  });

  test('has a named schema for each JSON body', () => {
    const inline = operationsOf(document).flatMap(
      ({ name: operation, operation: { requestBody, responses } }) =>
        [requestBody, ...Object.values(responses)].flatMap((body) => {
          const { schema } = (body?.content?.['application/json'] ?? {}) as { schema?: Node['node'] };
          const cases = (schema?.['anyOf'] ?? []) as Node['node'][];
          const named = [schema ?? {}, ...cases].some((one) => '$ref' in one);
          return schema && !named ? [`${operation}: ${JSON.stringify(schema)}`] : [];
        }),
    );
    expect(inline).toEqual([]);
  });

  test('describes every operation, parameter, answer, header, tag, scheme and field', () => {
    const { components, tags } = document;
    const parts = operationsOf(document).flatMap(
      ({ name: operation, operation: own }): [string, object][] => [
        [operation, own],
        ...(own.parameters ?? []).map((one): [string, object] => [
          `${operation} ${JSON.stringify(one)}`,
          one,
        ]),
        ...Object.entries(own.responses).flatMap(([status, response]): [string, object][] => [
          [`${operation} ${status}`, response],
          ...Object.entries(response.headers ?? {}).map(([header, one]): [string, object] => [
            `${operation} ${status} ${header}`,
            one,
          ]),
        ]),
      ],
    );
    const fields = all
      .filter(({ path }) => path.at(-2) === 'properties')
      .map(({ path, node }): [string, object] => [path.join('/'), node]);
    const named = [components.securitySchemes, components.headers ?? {}].flatMap((some) =>
      Object.entries(some),
    );
    const described = [
      ...parts,
      ...fields,
      ...named,
      ...tags.map((tag): [string, object] => [tag.name, tag]),
    ];
    expect(fields.length).toBeGreaterThan(10);
    const empty = described.filter(([, part]) => {
      const { description, $ref } = part as { description?: string; $ref?: string };
      return !description?.trim() && !$ref?.startsWith('#/components/headers/');
    });
    expect(empty.map(([part]) => part)).toEqual([]);
  });

  test('requires the headers of errors', () => {
    const headers = operationsOf(document).flatMap(({ name: operation, operation: { responses } }) =>
      Object.entries(responses).flatMap(([status, { headers: own = {} }]) =>
        Object.entries(own)
          .filter(([header]) => /^X-(?:Error-Code|Next-Action|Request-Id)$/.test(header))
          .map(([header, { $ref, required }]) => ({
            place: `${operation} ${status} ${header}`,
            required: $ref ? document.components.headers[header]?.required : required,
          })),
      ),
    );
    expect(headers.filter(({ required }) => required !== true)).toEqual([]);
    expect(headers.length > 0).toBe(name !== 'operator-wallet');
  });

  test('has only examples that fit their schemas', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
    ajv.addSchema({ $id: 'api', ...document });
    const validators = new Map<string, ValidateFunction>();
    const validatorAt = (path: readonly string[]) => {
      const schema = JSON.stringify(
        path.reduce<unknown>((part, key) => (part as Node['node'])[key], document),
      );
      const pointer = path.map((part) =>
        encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')),
      );
      const validator = validators.get(schema) ?? ajv.getSchema(`api#/${pointer.join('/')}`)!;
      validators.set(schema, validator);
      return validator;
    };
    const examples = all.flatMap(({ path, node }) => {
      const { example, examples: several, schema } = node;
      const values = [
        ...(example === undefined ? [] : [example]),
        ...Object.values((several as Record<string, { value: unknown }> | undefined) ?? {}).map(
          ({ value }) => value,
        ),
      ];
      return values.map((value) => ({ path: schema ? [...path, 'schema'] : path, value }));
    });
    expect(examples.length).toBeGreaterThan(5);
    const wrong = examples.flatMap(({ path, value }) => {
      const validate = validatorAt(path);
      return validate(value)
        ? []
        : [`${path.join('/')}: ${JSON.stringify(value)} ${ajv.errorsText(validate.errors)}`];
    });
    expect(wrong).toEqual([]);
  });
});

/** The fields that not every kind of transaction requires, in one document or the other. */
const CONDITIONAL = ['gameId', 'amountMinor', 'roundId', 'originalTransactionId'];

test.each([
  {
    document: 'provider',
    schema: 'TransactionRequest',
    cases: {
      BET: ['BetRequest', 'gameId', 'amountMinor', 'roundId'],
      WIN: ['WinRequest', 'gameId', 'amountMinor', 'roundId'],
      ROLLBACK: ['RollbackRequest', 'gameId', 'roundId', 'originalTransactionId'],
    },
  },
  {
    document: 'operator-wallet',
    schema: 'WalletTransactionRequest',
    cases: {
      BET: ['WalletBetRequest', 'gameId', 'amountMinor', 'roundId'],
      WIN: ['WalletWinRequest', 'gameId', 'amountMinor', 'roundId'],
      ROLLBACK: ['WalletRollbackRequest', 'gameId', 'amountMinor', 'roundId', 'originalTransactionId'],
      ADJUSTMENT: ['WalletAdjustmentRequest', 'amountMinor'],
    },
  },
])('$schema is one of its kinds, each a complete schema of its own', ({ document, schema, cases }) => {
  const { schemas } = documents.get(document)!.components as { schemas: Record<string, Choice> };
  const { oneOf, discriminator } = schemas[schema]!;
  expect(oneOf.map(({ $ref }) => $ref)).toEqual(Object.values(discriminator.mapping));
  const found = Object.entries(discriminator.mapping).map(([kind, reference]) => {
    const name = reference.split('/').at(-1)!;
    const { type, properties, required } = schemas[name] as unknown as Case;
    expect({ type, kind: properties['kind']!.enum }).toEqual({ type: 'object', kind: [kind] });
    const types = required.map((field) => [properties[field]!.type].flat());
    expect(types.filter((one) => one.includes('null'))).toEqual([]);
    return [kind, [name, ...CONDITIONAL.filter((field) => required.includes(field))]];
  });
  expect(Object.fromEntries(found)).toEqual(cases);
});

interface Choice {
  readonly oneOf: readonly { readonly $ref: string }[];
  readonly discriminator: {
    readonly propertyName: string;
    readonly mapping: Readonly<Record<string, string>>;
  };
}

interface Case {
  readonly type: string;
  readonly required: readonly string[];
  readonly properties: Readonly<
    Record<string, { readonly type?: string | readonly string[]; readonly enum?: readonly string[] }>
  >;
}

test('every shared description is used', () => {
  const described = [...nodes(documents.get('croupier'))];
  const isUsed = (entry: string, text: string) =>
    described.some(({ path, node }) => {
      const { description = '', name } = node as { description?: string; name?: string };
      const field = path.at(-2) === 'properties' ? [path.at(-1), `${path.at(-3)}.${path.at(-1)}`] : [name];
      return field.includes(entry) && description.startsWith(text);
    });
  const unused = [...Object.entries(FIELDS), ...Object.entries(PARAMETERS)].filter(
    ([entry, text]) => !isUsed(entry, text),
  );
  expect(unused).toEqual([]);
});
