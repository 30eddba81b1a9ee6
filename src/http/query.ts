import {
  type ArgumentMetadata,
  createParamDecorator,
  type ExecutionContext,
  type PipeTransform,
  type Type,
} from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { validated } from './json-body.js';

/** What a number may look like in a query: at most 16 digits, so that it is exact or refused by its bounds. */
const DIGITS = /^\d{1,16}$/;

const QueryOf = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<FastifyRequest>().query,
);

/**
 * The query as an instance of the parameter's class, validated by its constraints; unknown parameters are
 * refused, and so is one that is given twice. Contract, section 2.
 */
export const ValidQuery = () => QueryOf(undefined, new QueryPipe());

/** @throws CroupierError INVALID_REQUEST */
class QueryPipe implements PipeTransform<Record<string, unknown>, object> {
  transform(query: Record<string, unknown>, { metatype }: ArgumentMetadata): object {
    const type = metatype as Type<object>;
    const fields = Object.entries(query).map(
      ([name, value]) => [name, converted(type, name, value)] as const,
    );
    return validated(type, Object.fromEntries(fields), 'strict');
  }
}

/** A text stays one unless the class declares a number; what are no digits becomes NaN, which no bound accepts. */
function converted(type: Type<object>, name: string, value: unknown): unknown {
  if (Reflect.getMetadata('design:type', type.prototype as object, name) !== Number) return value;
  return typeof value === 'string' && DIGITS.test(value) ? Number(value) : NaN;
}
