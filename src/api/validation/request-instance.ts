import { createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { type ValidationError, validateSync } from 'class-validator';
import type { Request } from 'express';
import { CroupierError } from '../../errors/croupier-error.js';
import { validatorOf } from './validator.js';

/** How null and unknown fields are treated; an unknown field is one that the class lacks. Contract, section 2. */
export type Reading =
  /** An unknown field is refused, and the constraints decide whether a field may be null. */
  | 'strict'
  /** Unknown fields are ignored, and null means that the field is absent. */
  | 'lenient';

/**
 * Creates a parameter decorator that reads part of a request as an instance of the parameter's class. It is not a pipe,
 * because Nest awaits about six promises for a pipe, and reading is synchronous.
 * @param as the class, if the parameter's type does not name it
 */
export function readAs(
  read: (request: Request, type: Type<object>) => object,
  as?: Type<object>,
): ParameterDecorator {
  const ReadAs = createParamDecorator((type: Type<object>, context: ExecutionContext) =>
    read(context.switchToHttp().getRequest<Request>(), type),
  );
  return (controller, method, index) => {
    const types = Reflect.getMetadata('design:paramtypes', controller, method!) as Type<object>[];
    ReadAs(as ?? types[index]!)(controller, method, index);
  };
}

/**
 * Converts the known fields to an instance of the class, and validates it.
 * @throws CroupierError INVALID_REQUEST, or the code that a constraint names in its `context`
 */
export function validInstance<T extends object>(type: Type<T>, fields: Fields, reading: Reading): T {
  const { fields: known, accepts } = validatorOf(type);
  const unknown = Object.keys(fields).find((field) => !known.has(field));
  if (unknown !== undefined && reading === 'strict') throw unknownField(unknown);
  const instance = instanceOf(type, known, fields, reading);
  if (accepts(instance)) return instance;
  // Only class-validator itself, which is slow, provides the message of a refusal.
  const errors = validateSync(instance, { stopAtFirstError: true });
  const decisive = errors.find((error) => error.contexts) ?? errors[0];
  if (decisive) throw refusal(decisive);
  return instance;
}

export function unknownField(name: string): CroupierError {
  return invalid(`${JSON.stringify(name.slice(0, 64))} is not a known field`);
}

export function invalid(message: string): CroupierError {
  return new CroupierError('INVALID_REQUEST', message);
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Converts the scalars only. class-transformer would recurse into lists and objects: a deep one overflows the stack, a
 * nested `constructor` is called, and a list of many objects takes long. The constraints refuse every object.
 */
function instanceOf<T extends object>(
  type: Type<T>,
  known: ReadonlySet<string>,
  fields: Fields,
  reading: Reading,
): T {
  const scalars: Record<string, unknown> = {};
  const nested: Record<string, unknown> = {};
  for (const field of known) {
    const value = fields[field];
    if (!Object.hasOwn(fields, field) || (reading === 'lenient' && value === null)) continue;
    const isNested = typeof value === 'object' && value !== null;
    if (isNested) nested[field] = value;
    // null keeps the place of the field.
    scalars[field] = isNested ? null : value;
  }
  return Object.assign(plainToInstance(type, scalars), nested);
}

function refusal(error: ValidationError): CroupierError {
  const [constraint] = Object.keys(error.constraints ?? {});
  const code =
    constraint && (error.contexts?.[constraint] as { code?: 'KIND_NOT_ACCEPTED' } | undefined)?.code;
  return code
    ? new CroupierError(code)
    : invalid(Object.values(error.constraints ?? {})[0] ?? 'a field is invalid');
}
