import { ValidateBy } from 'class-validator';
import { CroupierError } from '../../errors/croupier-error.js';
import { instantOrDayMs } from '../../runtime/instant.js';
import { field, type FieldOptions } from './fields.js';

const INSTANT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/**
 * A time in a query or body: ISO 8601 with `Z` or an offset; a date without a time means midnight in UTC. Contract,
 * section 2.
 */
function isInstant(value: unknown): value is string {
  return typeof value === 'string' && INSTANT.test(value) && instantOrDayMs(value) !== null;
}

/**
 * A time, optional by default, such as a bound of a list by time: `from` ≤ createdAt < `to`. With the example null, the
 * documents show none.
 */
export const InstantField = (
  description: string,
  {
    presence = 'optional',
    example = '2026-01-31T00:00:00Z',
  }: Pick<FieldOptions, 'presence' | 'example'> = {},
) =>
  field(
    { type: 'string', pattern: INSTANT.source },
    {
      presence,
      description: `${description}, ISO 8601 with Z or an offset; a date without a time means midnight in UTC`,
      ...(example !== null && { example }),
    },
    ValidateBy({
      name: 'isInstant',
      validator: {
        validate: isInstant,
        defaultMessage: () =>
          '$property must be an ISO 8601 time with Z or an offset such as +02:00, or a day',
      },
    }),
  );

/** @throws CroupierError INVALID_REQUEST unless the time in the valid field is in the future */
export function futureInstant(name: string, value: string, now: Date): Date {
  const instant = new Date(instantOrDayMs(value)!);
  if (instant <= now) throw new CroupierError('INVALID_REQUEST', `${name} must be in the future`);
  return instant;
}
