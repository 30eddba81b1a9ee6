import type { Type } from '@nestjs/common';
import { readAs, validated } from './json-body.js';

/** What a number may look like in a query: at most 16 digits, so that it is exact or refused by its bounds. */
const DIGITS = /^\d{1,16}$/;

/**
 * The query as an instance of the parameter's class, validated by its constraints; unknown parameters are
 * refused, and so is one that is given twice. Contract, section 2.
 * @throws CroupierError INVALID_REQUEST
 */
export const ValidQuery = () =>
  readAs(({ query }, type) => {
    const given = Object.entries(query as Record<string, unknown>);
    const fields = given.map(([name, value]) => [name, converted(type, name, value)] as const);
    return validated(type, Object.fromEntries(fields), 'strict');
  });

/** A text stays one unless the class declares a number; what are no digits becomes NaN, which no bound accepts. */
function converted(type: Type<object>, name: string, value: unknown): unknown {
  if (Reflect.getMetadata('design:type', type.prototype as object, name) !== Number) return value;
  return typeof value === 'string' && DIGITS.test(value) ? Number(value) : NaN;
}
