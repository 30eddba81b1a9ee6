import {
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  type Type,
  UseGuards,
} from '@nestjs/common';
import { type ValidationError, validateSync } from 'class-validator';
import { parse as parseContentType } from 'content-type';
import type { Request } from 'express';
import { CroupierError } from '../../errors/croupier-error.js';
import { parseJsonObject } from './json.js';
import { validatorOf } from './validator.js';

/** How a body that goes beyond its class is taken. Contract, section 2. */
type Reading =
  /** An unknown field is refused. */
  | 'strict'
  /** Providers send extra fields, which are ignored, and null for what they leave out. */
  | 'lenient';

/**
 * The body as an instance of the parameter's class: parsed and validated after every guard has passed.
 * @throws CroupierError INVALID_REQUEST, or the code that a constraint names in its `context`
 */
export const JsonBody = () => readAs((request, type) => validated(type, fieldsOf(request), 'strict'));

/** The body of a provider's wallet call, read leniently. */
export const ProviderBody = () => readAs((request, type) => validated(type, fieldsOf(request), 'lenient'));

/**
 * What is read of a request as an instance of the parameter's class. No pipe: Nest would wait for one by half a dozen
 * promises, and here nothing is waited for.
 */
export function readAs(read: (request: Request, type: Type<object>) => object): ParameterDecorator {
  const ReadAs = createParamDecorator((type: Type<object>, context: ExecutionContext) =>
    read(context.switchToHttp().getRequest<Request>(), type),
  );
  return (controller, method, index) => {
    const types = Reflect.getMetadata('design:paramtypes', controller, method!) as Type<object>[];
    ReadAs(types[index]!)(controller, method, index);
  };
}

/**
 * For a route whose path says all: a body that says more is refused, as one with an unknown field.
 * @throws CroupierError INVALID_REQUEST
 */
export const NoBody = () => UseGuards(NoBodyGuard);

class NoBodyGuard implements CanActivate {
  canActivate(context: ExecutionContext): true {
    const [field] = Object.keys(fieldsOf(context.switchToHttp().getRequest<Request>()));
    if (field !== undefined) throw unknownField(field);
    return true;
  }
}

function fieldsOf({ headers, body }: Request): Record<string, unknown> {
  const bytes = body as Buffer;
  // No body says as much as an empty object; where something is required, that is what is refused.
  if (bytes.length === 0) return {};
  if (!isJson(headers['content-type'])) throw invalid('Content-Type must be application/json');
  return parsed(bytes);
}

/** `application/json` with no parameter but a charset of UTF-8: the bytes are decoded as UTF-8 whatever the header says. */
function isJson(header = ''): boolean {
  const { type, parameters } = parseContentType(header);
  const { charset = 'utf-8', ...others } = parameters;
  return type === 'application/json' && charset.toLowerCase() === 'utf-8' && Object.keys(others).length === 0;
}

function parsed(bytes: Buffer): Record<string, unknown> {
  try {
    return parseJsonObject(bytes);
  } catch {
    throw invalid('the request body must be a JSON object');
  }
}

/** Takes the known fields of a plain object into an instance of the class, and validates it. */
export function validated<T extends object>(
  type: Type<T>,
  fields: Readonly<Record<string, unknown>>,
  reading: Reading,
): T {
  const { fields: known, accepts } = validatorOf(type);
  const unknown = Object.keys(fields).find((field) => !known.has(field));
  if (unknown !== undefined && reading === 'strict') throw unknownField(unknown);
  const instance = new type();
  for (const field of known) {
    const given = Object.hasOwn(fields, field) && !(reading === 'lenient' && fields[field] === null);
    if (given) (instance as Record<string, unknown>)[field] = fields[field];
  }
  if (accepts(instance)) return instance;
  // Class-validator's own walk is dear: it is only asked what is wrong, and in which words.
  const errors = validateSync(instance, { stopAtFirstError: true });
  const telling = errors.find((error) => error.contexts) ?? errors[0];
  if (telling) throw refusal(telling);
  return instance;
}

function refusal(error: ValidationError): CroupierError {
  const [constraint] = Object.keys(error.constraints ?? {});
  const code =
    constraint && (error.contexts?.[constraint] as { code?: 'KIND_NOT_ACCEPTED' } | undefined)?.code;
  return code
    ? new CroupierError(code)
    : invalid(Object.values(error.constraints ?? {})[0] ?? 'a field is invalid');
}

function unknownField(name: string): CroupierError {
  return invalid(`${JSON.stringify(name.slice(0, 64))} is not a known field`);
}

function invalid(message: string): CroupierError {
  return new CroupierError('INVALID_REQUEST', message);
}
