import type { DynamicModule, Type } from '@nestjs/common';
import { MetadataScanner } from '@nestjs/core';
import { MODULE_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import {
  Allow,
  getMetadataStorage,
  IsDefined,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Max,
  Min,
  registerDecorator,
  Validate,
  ValidateBy,
  ValidateIf,
  ValidateNested,
  ValidatePromise,
  type ValidationArguments,
  ValidatorConstraint,
  validateSync,
} from 'class-validator';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { AppModule } from '../../src/app.module.js';
import { CroupierError } from '../../src/errors/croupier-error.js';
import { validInstance } from '../../src/api/validation/request-instance.js';
import { parseJsonObject } from '../../src/api/validation/json.js';
import { validatorOf } from '../../src/api/validation/validator.js';
import { TRANSACTION_REQUESTS, TransactionRequest } from '../../src/wallet/transaction.request.js';
import { ACCEPTED, changed, type Fields, isQueryInteger, knownFields, SUSPECTS } from './requests.js';

type Reading = 'strict' | 'lenient';

const STRANGERS = ['extra', '__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', ''];

test('every class that a route reads is listed here', () => {
  expect(names(ACCEPTED.keys())).toEqual(names(controllers(AppModule).flatMap(classesRead)));
});

describe.each([...ACCEPTED].map(([type, accepted]) => [type.name, type, accepted] as const))(
  '%s is judged as class-validator judges it',
  (_, type, accepted) => {
    const fields = [...knownFields(type)];

    test.each(accepted)('if it is valid, without a search for decorators: %j', (body) => {
      expectTheSame(type, body, 'strict');
      using search = vi.spyOn(getMetadataStorage(), 'getTargetValidationMetadatas');
      expect(validInstance(type, body, 'strict')).toEqual({ ...new type(), ...body });
      expect(search).not.toHaveBeenCalled();
    });

    test('with any one field invalid', () => {
      for (const example of accepted)
        for (const field of fields)
          for (const suspect of SUSPECTS)
            for (const reading of ['strict', 'lenient'] as const)
              expectTheSame(type, changed(example, [[field, suspect]]), reading);
    });

    test('with several invalid fields', () => {
      const value = fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom(...SUSPECTS) },
        { weight: 1, arbitrary: fc.jsonValue() },
        { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
        { weight: 1, arbitrary: fc.double() },
      );
      const change = fc.tuple(fc.constantFrom(...fields), value);
      const stranger = fc.oneof(
        { weight: 5, arbitrary: fc.constant(undefined) },
        { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...STRANGERS), value) },
      );
      let accepts = 0;
      let refuses = 0;
      fc.assert(
        fc.property(
          fc.constantFrom(...accepted),
          fc.uniqueArray(change, { maxLength: 5, selector: ([field]) => field }),
          stranger,
          fc.constantFrom('strict', 'lenient'),
          (example, changes, extra, reading) => {
            const body = changed(example, [...changes, ...(extra ? [extra] : [])]);
            if (expectTheSame(type, body, reading)) accepts++;
            else refuses++;
          },
        ),
        { numRuns: 600 },
      );
      expect(Math.min(accepts, refuses)).toBeGreaterThan(0);
    });
  },
);

describe('of a transaction', () => {
  const BET = TRANSACTION_REQUESTS.BET.value;
  const refusal = (body: Fields) => outcome(() => validInstance(TransactionRequest, body, 'lenient'));

  test('a kind that is not accepted is reported before any other error', () => {
    expect(refusal({ ...BET, sessionToken: 1, kind: 'ADJUSTMENT', amountMinor: -1 })).toMatchObject({
      code: 'KIND_NOT_ACCEPTED',
    });
  });

  test('the first field is reported before the second, and its type first', () => {
    expect(refusal({ ...BET, sessionToken: 1, amountMinor: 'x' })).toEqual({
      code: 'INVALID_REQUEST',
      message: 'sessionToken must be a string',
    });
    expect(refusal({ ...BET, amountMinor: 'x' })).toMatchObject({
      message: 'amountMinor must be an integer number',
    });
  });

  test.each([
    '{"__proto__":{"sessionToken":"s"},"kind":"BET"}',
    '{"constructor":{"prototype":{}},"sessionToken":"s"}',
    '{"toString":1,"valueOf":2,"hasOwnProperty":3}',
    `{"__proto__":null,${JSON.stringify(BET).slice(1)}`,
    `{"constructor":1,${JSON.stringify(BET).slice(1)}`,
  ])('%s', (text) => {
    for (const reading of ['strict', 'lenient'] as const)
      expectTheSame(TransactionRequest, parseJsonObject(Buffer.from(text))!, reading);
  });
});

describe('features that no route uses yet', () => {
  class Base {
    @IsInt()
    inherited: unknown;

    @IsString()
    replaced: unknown;
  }

  @ValidatorConstraint({ name: 'isTheirSum' })
  class IsTheirSum {
    validate(
      value: unknown,
      { object, property, targetName, constraints, value: whole }: ValidationArguments,
    ) {
      const { low, inherited } = object as Judged;
      return (
        `${targetName}.${property}` === 'Judged.sum' &&
        constraints[0] === 'told' &&
        whole === value &&
        value === Number(low) + Number(inherited)
      );
    }
  }

  class Judged extends Base {
    @IsIn([1, '1'])
    override replaced: unknown;

    @ValidateIf((_, value) => value !== -1)
    @ValidateIf(({ inherited }: Judged) => inherited !== 7)
    @Min(0)
    low: unknown;

    @IsOptional()
    @IsDefined()
    @Max(7, { validateIf: ({ low }: Judged) => low !== 7 })
    high: unknown;

    @IsDefined({ groups: ['any'] })
    @IsInt({ each: true, groups: ['none'] })
    @Min(1, { each: true, always: true })
    each: unknown;

    @Validate(IsTheirSum, ['told'])
    sum: unknown;
  }

  test('conditions, inheritance, collections, constraints of a class and their arguments', () => {
    const number = fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom<unknown>(1, 7) },
      { weight: 2, arbitrary: fc.constantFrom<unknown>(-1, 8, '1', null, undefined) },
    );
    const some = fc.array(fc.constantFrom<unknown>(1, 2, 3, 1.5, 0, 'x'), { maxLength: 2 });
    const collection = fc.oneof(
      number,
      some,
      some.map((items) => new Set(items)),
      some.map((items) => new Map(items.map((item, index) => [index, item]))),
    );
    let accepts = 0;
    fc.assert(
      fc.property(
        fc.record({ inherited: number, replaced: number, low: number, high: number, each: collection }),
        fc.constantFrom(0, 0, 0, 1),
        (fields, excess) => {
          const sum = Number(fields.low) + Number(fields.inherited) + excess;
          const judged = Object.assign(new Judged(), fields, { sum });
          expect(validatorOf(Judged).accepts(judged)).toBe(walk(judged).length === 0);
          if (validatorOf(Judged).accepts(judged)) accepts++;
        },
      ),
      { numRuns: 5000 },
    );
    expect(accepts).toBeGreaterThan(50);
  });

  const answering = (answer: unknown) =>
    ValidateBy({ name: 'answers', validator: { validate: () => answer as boolean } });

  const asynchronous: PropertyDecorator = (target, propertyName) =>
    registerDecorator({
      name: 'later',
      async: true,
      target: target.constructor,
      propertyName: String(propertyName),
      validator: { validate: () => expect.unreachable() },
    });

  test.each<[string, PropertyDecorator]>([
    ['a nested object', ValidateNested()],
    ['a promise of a value', ValidatePromise()],
    ['a field that is only allowed', Allow()],
    ['an asynchronous constraint', asynchronous],
    ['a constraint that answers later', answering(Promise.resolve(true))],
    ['a constraint that answers neither true nor false', answering(1)],
  ])('%s is left to class-validator', (_, constraint) => {
    class Left {
      field: unknown;
    }
    constraint(Left.prototype, 'field');
    expect(validatorOf(Left).accepts(Object.assign(new Left(), { field: {} }))).toBe(false);
    expectTheSame(Left, { field: 'text' }, 'strict', false);
    expectTheSame(Left, { field: 1 }, 'strict', false);
  });

  test('a class without constraints is left to class-validator', () => {
    class Bare {
      field: unknown;
    }
    expect(validatorOf(Bare).accepts(new Bare())).toBe(false);
    expectTheSame(Bare, {}, 'strict');
  });
});

/**
 * Compares `validInstance` with class-validator's own walk.
 * @param exactly whether the compiled validator must decide without class-validator
 */
function expectTheSame(type: Type<object>, fields: Fields, reading: Reading, exactly = true): boolean {
  const reference = outcome(() => walked(type, fields, reading));
  expect(outcome(() => validInstance(type, fields, reading))).toStrictEqual(reference);
  const instance = taken(type, fields, reading);
  const { accepts } = validatorOf(type);
  if (exactly) expect(accepts(instance)).toBe(walk(instance).length === 0);
  return 'instance' in reference;
}

function outcome(read: () => object) {
  try {
    const instance = read();
    return { instance, order: Object.keys(instance) };
  } catch (error) {
    if (!(error instanceof CroupierError)) throw error;
    return { code: error.code, message: error.message };
  }
}

/** The expected result of `validInstance`, by class-validator only. */
function walked(type: Type<object>, fields: Fields, reading: Reading): object {
  const known = knownFields(type);
  const unknown = Object.keys(fields).find((field) => !known.has(field));
  if (unknown !== undefined && reading === 'strict') {
    throw new CroupierError(
      'INVALID_REQUEST',
      `${JSON.stringify(unknown.slice(0, 64))} is not a known field`,
    );
  }
  const instance = taken(type, fields, reading);
  const errors = walk(instance);
  const telling = errors.find((error) => error.contexts) ?? errors[0];
  if (!telling) return instance;
  const [[constraint, message] = []] = Object.entries(telling.constraints ?? {});
  const code = constraint && telling.contexts?.[constraint]?.code;
  throw code
    ? new CroupierError(code)
    : new CroupierError('INVALID_REQUEST', message ?? 'a field is invalid');
}

function taken(type: Type<object>, fields: Fields, reading: Reading): object {
  const given = [...knownFields(type)].filter(
    (field) => Object.hasOwn(fields, field) && !(reading === 'lenient' && fields[field] === null),
  );
  const values = given.map((field) => [field, converted(type, field, fields[field])] as const);
  return Object.assign(new type(), Object.fromEntries(values));
}

/** What `@Transform` does to a field: only integers of a query are converted. */
function converted(type: Type<object>, field: string, value: unknown): unknown {
  if (!isQueryInteger(type, field) || typeof value !== 'string') return value;
  return /^-?[0-9]{1,16}$/.test(value) ? Number(value) : NaN;
}

function walk(instance: object) {
  return validateSync(instance, { stopAtFirstError: true });
}

function controllers(module: Type<object> | DynamicModule): Type<object>[] {
  const type = 'module' in module ? module.module : module;
  const imports: (Type<object> | DynamicModule)[] = [
    ...(Reflect.getMetadata(MODULE_METADATA.IMPORTS, type) ?? []),
    ...(('module' in module && module.imports) || []),
  ];
  return [
    ...(Reflect.getMetadata(MODULE_METADATA.CONTROLLERS, type) ?? []),
    ...imports.flatMap((imported) => controllers(imported)),
  ];
}

/** The classes of the parameters that are validated. */
function classesRead(controller: Type<object>): Type<object>[] {
  return new MetadataScanner().getAllMethodNames(controller.prototype).flatMap((method) => {
    const parameters: Record<string, { data?: unknown }> =
      Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {};
    return Object.values(parameters)
      .map(({ data }) => data)
      .filter((data): data is Type<object> => typeof data === 'function');
  });
}

function names(types: Iterable<Type<object>>): string[] {
  return [...new Set(types)].map(({ name }) => name).sort();
}
