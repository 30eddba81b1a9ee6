import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
  NotEquals,
  ValidateBy,
  ValidateIf,
  type ValidationArguments,
  type ValidationOptions,
} from 'class-validator';
import { CURRENCY, CURRENCY_WORDS, IDENTIFIER_SCHEMA, isIdentifier } from './identifier.js';
import {
  BEYOND_PATTERN,
  type DIFFERS_WHERE,
  REQUIRED_WHERE,
  type RequiredWhere,
} from './schema-extensions.js';

/** Whether a field may be absent or null, whether null counts as absent, or under which condition it is required. */
export type Presence = 'required' | 'required-nullable' | 'optional' | 'nullable' | RequiredWhere;

/** Properties of a field other than its values. A field is required by default. */
export interface FieldOptions {
  readonly presence?: Presence;
  readonly format?: string;
  readonly example?: unknown;
  readonly default?: unknown;
  readonly description?: string;
  readonly [DIFFERS_WHERE]?: Readonly<Record<string, object | false>>;
}

/**
 * Declares a field of a request once, for the OpenAPI document and for validation. Contract, section 2.
 * @param schema the accepted values, as JSON Schema
 * @param constraints the accepted values, as class-validator decorators; a refusal reports the first that fails
 */
export function field(
  schema: Fields,
  { presence = 'required', ...options }: FieldOptions,
  ...constraints: PropertyDecorator[]
): PropertyDecorator {
  const { documented, conditions } = meaningOf(presence);
  const property = { ...schema, ...options, ...documented } as ApiPropertyOptions;
  return applyDecorators(ApiProperty(property), ...conditions, ...constraints);
}

function meaningOf(presence: Presence): { documented: Fields; conditions: PropertyDecorator[] } {
  switch (presence) {
    case 'required':
      return { documented: { required: true }, conditions: [] };
    case 'required-nullable':
      return {
        documented: { required: true, nullable: true },
        conditions: [ValidateIf((_, value) => value !== null)],
      };
    case 'optional':
      return { documented: { required: false }, conditions: [ValidateIf((_, value) => value !== undefined)] };
    case 'nullable':
      return { documented: { required: false, nullable: true }, conditions: [IsOptional()] };
    default: {
      const { requiredWhere, is } = presence;
      const applies = (request: Fields, value: unknown) =>
        value != null || is.includes(request[requiredWhere]);
      return {
        documented: { required: false, nullable: true, [REQUIRED_WHERE]: presence },
        conditions: [ValidateIf(applies)],
      };
    }
  }
}

type Fields = Readonly<Record<string, unknown>>;

const NOT_RESERVED = /^(?!croupier-)/;
const IDENTIFIER_RULE = 'must be 1 to 128 printable ASCII characters without spaces';

/** 1 to 128 printable ASCII characters without spaces, but not `.` or `..`. Contract, section 3. */
export const IdentifierField = (options: FieldOptions) => field(IDENTIFIER_SCHEMA, options, IsIdentifier());

/**
 * The id that the caller chooses for a transaction or adjustment. It is unique for ever. The prefix `croupier-` is
 * reserved for the platform. Contract, section 3.
 */
export const OwnIdentifierField = (options: FieldOptions) =>
  field(
    { ...IDENTIFIER_SCHEMA, [BEYOND_PATTERN]: 'not `.` or `..`, and not beginning with `croupier-`' },
    options,
    IsIdentifier(),
    Matches(NOT_RESERVED, { message: '$property must not begin with croupier-' }),
  );

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A UUID that the platform has assigned. */
export const UuidField = (options: FieldOptions) =>
  PatternField(UUID, 'must be a UUID in lower case', options);

/** The published schema of a list's items; `BEYOND_PATTERN` belongs to the field. */
const { [BEYOND_PATTERN]: beyondIdentifier, ...IDENTIFIER_ITEM } = IDENTIFIER_SCHEMA;

/** The message for a list with a wrong entry, which names the first one, such as `playerRefs[2] must be …`. */
const firstWrong =
  (isWrong: (entry: unknown, index: number, list: readonly unknown[]) => boolean, rule: string) =>
  ({ value, property }: ValidationArguments): string => {
    const index = Array.isArray(value) ? value.findIndex(isWrong) : -1;
    return `${index < 0 ? property : `${property}[${index}]`} ${rule}`;
  };

const unlike = (pattern: RegExp) => (entry: unknown) => typeof entry !== 'string' || !pattern.test(entry);

/** A list of 1 to `most` unique items. */
const listField = (
  list: { readonly items: Fields; readonly [BEYOND_PATTERN]?: string },
  { most, ...options }: FieldOptions & { most: number },
  constraintOfEach: PropertyDecorator,
) =>
  field(
    { type: 'array', ...list, minItems: 1, maxItems: most, uniqueItems: true },
    options,
    IsArray(),
    ArrayMinSize(1),
    ArrayMaxSize(most),
    ArrayUnique({
      message: firstWrong(
        (entry, index, list) => list.indexOf(entry) < index,
        'must not repeat an earlier one',
      ),
    }),
    constraintOfEach,
  );

export const IdentifiersField = (options: FieldOptions & { most: number }) =>
  listField(
    { items: IDENTIFIER_ITEM, [BEYOND_PATTERN]: beyondIdentifier },
    options,
    IsIdentifier({ each: true, message: firstWrong((entry) => !isIdentifier(entry), IDENTIFIER_RULE) }),
  );

export const UuidsField = (options: FieldOptions & { most: number }) =>
  listField(
    { items: { type: 'string', pattern: UUID.source } },
    options,
    Matches(UUID, { each: true, message: firstWrong(unlike(UUID), 'must be a UUID in lower case') }),
  );

/** An ISO 4217 currency code: three upper-case letters. */
export const CurrencyField = (options: FieldOptions = {}) =>
  PatternField(CURRENCY, CURRENCY_WORDS, { example: 'EUR', ...options });

export const CurrenciesField = (options: FieldOptions & { most: number }) =>
  listField(
    { items: { type: 'string', pattern: CURRENCY.source } },
    options,
    Matches(CURRENCY, { each: true, message: firstWrong(unlike(CURRENCY), CURRENCY_WORDS) }),
  );

/** A safe integer between two inclusive bounds, optionally with one excluded value; amounts are in minor units. */
export const IntegerField = ({
  minimum,
  maximum = Number.MAX_SAFE_INTEGER,
  except,
  ...options
}: FieldOptions & { minimum: number; maximum?: number; except?: number }) =>
  field(
    { type: 'integer', minimum, maximum, ...(except !== undefined && { not: { const: except } }) },
    options,
    IsInt(),
    Min(minimum),
    Max(maximum),
    ...(except === undefined ? [] : [NotEquals(except)]),
  );

/** An integer in a query, where every value is text. */
export const QueryIntegerField = (options: FieldOptions & { minimum: number; maximum?: number }) =>
  applyDecorators(
    IntegerField({ presence: 'optional', ...options }),
    Transform(({ value }: { value: unknown }) => integerFromQuery(value)),
  );

/**
 * An optional minus sign and 1 to 16 digits. `Number` converts such text exactly, or to an unsafe integer, which the
 * bounds refuse.
 */
const DIGITS = /^-?\d{1,16}$/;

/**
 * Converts the text of a parameter to a number, or to NaN. A repeated parameter is a list and is not converted. The
 * integer constraint refuses both a list and NaN.
 */
function integerFromQuery(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return DIGITS.test(value) ? Number(value) : NaN;
}

export const BooleanField = (options: FieldOptions) => field({ type: 'boolean' }, options, IsBoolean());

export const ChoiceField = (values: readonly string[], options: FieldOptions & { enumName?: string } = {}) =>
  field({ type: 'string', enum: [...values] }, options, IsOneOf(values));

/**
 * One of the listed values, in a query. For a query, @nestjs/swagger keeps an enum only if it is in a nested schema.
 */
export const QueryChoiceField = (values: readonly string[], options: FieldOptions = {}) =>
  field(
    { type: 'string', schema: { enum: [...values] } },
    { presence: 'optional', ...options },
    IsOneOf(values),
  );

/**
 * A text that matches a pattern.
 * @param words the message if the text does not match, without the property's name
 * @param published the schema that documents a pattern which other languages do not have: the same or a wider pattern,
 *   in the common subset of JavaScript and RE2, with the rest in words as `BEYOND_PATTERN`
 */
export const PatternField = (
  pattern: RegExp,
  words: string,
  options: FieldOptions,
  published: Fields = { pattern: pattern.source },
) => field({ type: 'string', ...published }, options, Matches(pattern, { message: `$property ${words}` }));

/** A text without control characters (the category Cc), in the common subset of JavaScript and RE2. */
const PRINTABLE_TEXT = String.raw`^[^\x00-\x1f\x7f-\x9f]*$`;

/**
 * A single line of text. Control characters are refused, including NUL, which PostgreSQL cannot store, and line breaks.
 * Lone surrogates are refused, because they are not characters.
 * @param longest maximum length in characters (code points)
 */
export const TextField = ({
  longest,
  notBlank = false,
  ...options
}: FieldOptions & { longest: number; notBlank?: boolean }) => {
  const pattern = new RegExp(`^${notBlank ? '(?=\\s*\\S)' : ''}[^\\p{Cc}\\p{Cs}]{1,${longest}}$`, 'u');
  return field(
    {
      type: 'string',
      minLength: 1,
      maxLength: longest,
      pattern: PRINTABLE_TEXT,
      [BEYOND_PATTERN]: `no lone surrogates${notBlank ? ', and not only spaces' : ''}`,
    },
    options,
    Matches(pattern, {
      message: `$property must be 1 to ${longest} characters without control characters${notBlank ? ', and not only spaces' : ''}`,
    }),
  );
};

/** A text that only its issuer interprets, such as a token or a cursor. */
export const OpaqueField = (options: FieldOptions) =>
  field({ type: 'string', minLength: 1 }, options, IsString(), IsNotEmpty());

function IsOneOf(values: readonly string[]): PropertyDecorator {
  return IsIn(values, { message: `$property must be one of: ${values.join(', ')}` });
}

function IsIdentifier(options?: ValidationOptions): PropertyDecorator {
  return ValidateBy(
    {
      name: 'isIdentifier',
      validator: {
        validate: isIdentifier,
        defaultMessage: () => `$property ${IDENTIFIER_RULE}`,
      },
    },
    options,
  );
}
