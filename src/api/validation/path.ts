import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import type { Request } from 'express';
import { CroupierError } from '../../errors/croupier-error.js';
import { CURRENCY, CURRENCY_WORDS, IDENTIFIER_SCHEMA, isIdentifier, isUuid } from './identifier.js';

/**
 * A UUID that the platform has assigned, in a path.
 * @throws CroupierError NOT_FOUND if it is not a UUID
 */
export const UuidParam = (name: string) =>
  fromPath(name, { type: 'string', format: 'uuid' }, (value) => {
    if (!isUuid(value)) throw new CroupierError('NOT_FOUND');
    return value.toLowerCase();
  });

/**
 * An identifier that a caller has chosen, in a path.
 * @throws CroupierError INVALID_REQUEST
 */
export const IdentifierParam = (name: string) =>
  fromPath(name, IDENTIFIER_SCHEMA, (value) => {
    if (!isIdentifier(value))
      throw new CroupierError('INVALID_REQUEST', 'the path contains no valid identifier');
    return value;
  });

/**
 * An ISO 4217 currency code in a path.
 * @throws CroupierError INVALID_REQUEST
 */
export const CurrencyParam = (name: string) =>
  fromPath(name, { type: 'string', pattern: CURRENCY.source }, (value) => {
    if (!CURRENCY.test(value)) throw new CroupierError('INVALID_REQUEST', `${name} ${CURRENCY_WORDS}`);
    return value;
  });

function fromPath(
  name: string,
  schema: { type: 'string'; format?: string; pattern?: string },
  read: (value: string) => string,
): ParameterDecorator {
  const FromPath = createParamDecorator((_: unknown, context: ExecutionContext) => {
    const { params } = context.switchToHttp().getRequest<Request>();
    return read((params as Record<string, string>)[name] ?? '');
  });
  return (controller, method, index) => {
    const handler = Object.getOwnPropertyDescriptor(controller, method!)!;
    ApiParam({ name, schema })(controller, method!, handler);
    FromPath()(controller, method, index);
  };
}
