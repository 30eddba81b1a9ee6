import type { Type } from '@nestjs/common';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { CroupierError } from '../../src/errors/croupier-error.js';
import { validInstance } from '../../src/api/validation/request-instance.js';
import { visible } from '../../src/runtime/visible.js';
import { SessionTokenRequest } from '../../src/session/session.request.js';
import { TransactionRequest } from '../../src/wallet/transaction.request.js';
import { ACCEPTED, changed, type Fields, isQueryInteger, knownFields, SUSPECTS } from '../http/requests.js';
import { useWorld } from '../world/world.js';
import { ApiDocument, type OpenApi, queryOf } from './document.js';

/**
 * Constraints that no schema can express: that a day exists, that an address can be used, and that a field fits the
 * others. A schema of a provider's body cannot refuse the fields that it does not have, either.
 */
const BEYOND_A_SCHEMA =
  /^((from|to|until|expiresAt|launchUrl|roundDetailsUrl) must|winKind FREE_SPINS|(winKind|promotionRef) is for a WIN)/;

const isDots = (value: unknown) => value === '.' || value === '..';

/**
 * Refusals of values that a published pattern accepts, because the common subset of JavaScript and RE2 cannot express
 * the rule: the message, the values that it may concern, and the words that the field's description must have.
 */
const BEYOND_A_PATTERN: readonly {
  readonly message: RegExp;
  readonly concerns: (value: string) => boolean;
  readonly words: string;
}[] = [
  {
    message: /^(\w+)(?:\[\d+\])? must be 1 to (?:128|32) printable ASCII characters/,
    concerns: isDots,
    words: 'not `.` or `..`',
  },
  {
    message: /^(\w+) must be 1 to 64 of A-Z/,
    concerns: (value) => isDots(value) || value === 'platform',
    words: 'not `.`, `..` or `platform`',
  },
  {
    message: /^(\w+) must not begin with croupier-/,
    concerns: (value) => value.startsWith('croupier-'),
    words: 'not beginning with `croupier-`',
  },
  {
    message: /^(freeSpinsRef) must be 1 to 256 characters without/,
    concerns: (value) => !value.isWellFormed() || visible(value) !== value,
    words: 'line separators, bidirectional controls and lone surrogates',
  },
  {
    message: /^(\w+) must be 1 to \d+ characters without/,
    concerns: (value) => !value.isWellFormed(),
    words: 'no lone surrogates',
  },
  {
    message: /^(\w+) must be 1 to \d+ characters .*, and not only spaces/,
    concerns: (value) => value !== '' && value.trim() === '',
    words: 'not only spaces',
  },
];

/** Providers' bodies are read leniently. Contract, section 2. */
const LENIENT = new Set<Type<object>>([TransactionRequest, SessionTokenRequest]);

let document: ApiDocument;

const world = useWorld({ DOCS_ENABLED: 'true' });
beforeAll(async () => {
  document = new ApiDocument((await world.request('/docs-json')).json as unknown as OpenApi);
});

test('every body and every query of the document is tested here', () => {
  const names = [...ACCEPTED.keys()].map(({ name }) => `#/components/schemas/${name}`);
  const bodies = document.entries.flatMap(({ operation }) =>
    // A body that is not JSON, such as a statement, has no class.
    Object.values(operation.requestBody?.content ?? {}).flatMap(
      ({ schema }) => (schema as { $ref?: string }).$ref ?? [],
    ),
  );
  expect(names).toEqual(expect.arrayContaining(bodies));
  const known = [...ACCEPTED.keys()].map((type) => sorted(knownFields(type)));
  for (const query of queries()) expect(known).toContainEqual(namesIn(query));
});

describe.each([...ACCEPTED].map(([type, accepted]) => [type.name, type, accepted] as const))(
  '%s is documented as it is validated',
  (_, type, accepted) => {
    const fields = [...knownFields(type)];
    const reading = LENIENT.has(type) ? 'lenient' : 'strict';

    test('with any one field invalid', () => {
      const documented = documentedAs(type);
      for (const example of accepted) {
        expectTheSame(documented, type, example, reading);
        for (const field of [...fields, 'extra'])
          for (const suspect of SUSPECTS.filter(isJson))
            expectTheSame(documented, type, changed(example, [[field, suspect]]), reading);
      }
    });

    test('with several invalid fields', () => {
      const documented = documentedAs(type);
      const value = fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom(...SUSPECTS.filter(isJson)) },
        { weight: 1, arbitrary: fc.jsonValue() },
        { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
      );
      const change = fc.tuple(fc.constantFrom(...fields, 'extra'), value);
      const changes = fc.uniqueArray(change, { maxLength: 4, selector: ([field]) => field });
      let accepts = 0;
      let refuses = 0;
      fc.assert(
        fc.property(fc.constantFrom(...accepted), changes, (example, several) => {
          if (expectTheSame(documented, type, changed(example, several), reading)) accepts++;
          else refuses++;
        }),
        { numRuns: 600 },
      );
      expect(Math.min(accepts, refuses)).toBeGreaterThan(0);
    });
  },
);

/** Compares what the service accepts with each place where the class is documented. */
function expectTheSame(
  documented: readonly ValidateFunction[],
  type: Type<object>,
  fields: Fields,
  reading: 'strict' | 'lenient',
): boolean {
  // The schema of a query does not say how an integer is written; test/http/conversion.long.test.ts covers that.
  if (Object.entries(fields).some(([name, value]) => typeof value === 'string' && isQueryInteger(type, name)))
    return false;
  const refusal = refusalOf(type, fields, reading);
  if (refusal !== undefined && BEYOND_A_SCHEMA.test(refusal)) return false;
  for (const accepts of documented)
    if (accepts(fields) !== (refusal === undefined) && !isBeyondPattern(type, fields, refusal))
      expect.fail(
        `${JSON.stringify(fields)}: ${refusal ?? 'accepted'}, but ${JSON.stringify(accepts.errors)}`,
      );
  return refusal === undefined;
}

/** Whether the refusal is for a rule that the field's description states because its pattern cannot. */
function isBeyondPattern(type: Type<object>, fields: Fields, refusal: string | undefined): boolean {
  return BEYOND_A_PATTERN.some(({ message, concerns, words }) => {
    const [, field] = message.exec(refusal ?? '') ?? [];
    if (field === undefined) return false;
    const values = [fields[field]].flat().filter((value) => typeof value === 'string');
    return values.some(concerns) && descriptionsOf(type, field).every((text) => text.includes(words));
  });
}

/** The descriptions of the field in each place where its class is documented. */
function descriptionsOf(type: Type<object>, field: string): string[] {
  const properties = document.propertiesOf(type.name);
  if (properties) return [properties[field]?.description ?? ''];
  const names = sorted(knownFields(type)).join();
  return queries()
    .filter((query) => namesIn(query).join() === names)
    .map((query) => query.find(({ name }) => name === field)?.description ?? '');
}

function refusalOf(type: Type<object>, fields: Fields, reading: 'strict' | 'lenient'): string | undefined {
  try {
    validInstance(type, fields, reading);
    return undefined;
  } catch (error) {
    if (!(error instanceof CroupierError)) throw error;
    return error.message;
  }
}

/** The schema of a body, or that of each operation with this query. */
function documentedAs(type: Type<object>): ValidateFunction[] {
  // A format is only a hint and does not constrain a value.
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'api', ...document.json });
  const body = document.json.components.schemas[type.name];
  if (body) return [ajv.compile({ $ref: `api#/components/schemas/${type.name}` })];
  const fields = sorted(knownFields(type)).join();
  const own = queries().filter((query) => namesIn(query).join() === fields);
  expect(own, type.name).not.toEqual([]);
  return own.map((query) =>
    ajv.compile({
      type: 'object',
      properties: Object.fromEntries(query.map(({ name, schema }) => [name, schema])),
      required: query.filter(({ required }) => required).map(({ name }) => name),
      // Unknown parameters are refused, which a document cannot express.
      additionalProperties: false,
    }),
  );
}

/** The parameters of each operation that has any in its query. */
function queries() {
  return document.entries.map(({ operation }) => queryOf(operation)).filter((query) => query.length > 0);
}

function namesIn(query: ReturnType<typeof queryOf>): string[] {
  return sorted(query.map(({ name }) => name));
}

const sorted = (names: Iterable<string>) => [...names].sort();

/** Whether JSON can carry a value; undefined leaves the field out. */
function isJson(value: unknown): boolean {
  return typeof value !== 'number' || Number.isFinite(value);
}
