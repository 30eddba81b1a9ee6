import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
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
  type ValidationOptions,
} from 'class-validator';
import { REQUIRED_WHERE, type RequiredWhere } from '../../openapi/bodies.js';
import { IDENTIFIER, IDENTIFIER_SCHEMA, isIdentifier } from './identifier.js';

/** Whether a field may be left out, and whether null says so too; or where alone it may not. */
export type Presence = 'required' | 'optional' | 'nullable' | RequiredWhere;

/** What is told of a field beside its values; it is required where nothing else is said. */
export interface Told {
  readonly presence?: Presence;
  readonly format?: string;
  readonly example?: unknown;
  readonly default?: unknown;
  readonly description?: string;
}

/**
 * A field of a request, said once: what the documents tell of it is what is accepted. Contract, section 2.
 * @param schema its values, as JSON Schema
 * @param constraints its values, as class-validator judges them; of several that do not hold the first is told
 */
export function field(
  schema: Fields,
  { presence = 'required', ...told }: Told,
  ...constraints: PropertyDecorator[]
): PropertyDecorator {
  const { documented, freed } = meaningOf(presence);
  const options = { ...schema, ...told, ...documented } as ApiPropertyOptions;
  return applyDecorators(ApiProperty(options), ...freed, ...constraints);
}

/** What is documented of a presence, and where a field needs not be judged for it. */
function meaningOf(presence: Presence): { documented: Fields; freed: PropertyDecorator[] } {
  switch (presence) {
    case 'required':
      return { documented: { required: true }, freed: [] };
    case 'optional':
      return { documented: { required: false }, freed: [ValidateIf((_, value) => value !== undefined)] };
    case 'nullable':
      return { documented: { required: false, nullable: true }, freed: [IsOptional()] };
    default: {
      const { requiredWhere, is } = presence;
      const judged = (request: Fields, value: unknown) =>
        value != null || is.includes(request[requiredWhere]);
      return {
        documented: { required: false, nullable: true, [REQUIRED_WHERE]: presence },
        freed: [ValidateIf(judged)],
      };
    }
  }
}

type Fields = Readonly<Record<string, unknown>>;

const NOT_THE_PLATFORMS = /^(?!croupier-)/;
const NO_IDENTIFIER = '$property must be 1 to 128 printable ASCII characters without spaces';

/** 1 to 128 printable ASCII characters. Contract, section 3. */
export const IdentifierField = (told: Told) => field(IDENTIFIER_SCHEMA, told, IsIdentifier());

/** What the caller's own is known by, for ever; ids that begin with `croupier-` are the platform's. Contract, section 3. */
export const OwnIdentifierField = (told: Told) =>
  field(
    { ...IDENTIFIER_SCHEMA, pattern: NOT_THE_PLATFORMS.source + IDENTIFIER.source.slice(1) },
    told,
    IsIdentifier(),
    Matches(NOT_THE_PLATFORMS, { message: '$property must not begin with croupier-' }),
  );

/** Different identifiers, in any order. */
export const IdentifiersField = ({ most, ...told }: Told & { most: number }) =>
  field(
    { type: 'array', items: IDENTIFIER_SCHEMA, minItems: 1, maxItems: most, uniqueItems: true },
    told,
    IsArray(),
    ArrayMinSize(1),
    ArrayMaxSize(most),
    ArrayUnique({ message: '$property must be different ones' }),
    IsIdentifier({
      each: true,
      message: `each of ${NO_IDENTIFIER}`,
    }),
  );

/** Three upper-case letters, as ISO 4217 has them. */
export const CurrencyField = () =>
  PatternField(/^[A-Z]{3}$/, 'must be 3 upper-case letters (ISO 4217)', { example: 'EUR' });

/** An integer between two bounds, and not this one; amounts are in minor units. */
export const IntegerField = ({
  minimum,
  maximum = Number.MAX_SAFE_INTEGER,
  except,
  ...told
}: Told & { minimum: number; maximum?: number; except?: number }) =>
  field(
    { type: 'integer', minimum, maximum, ...(except !== undefined && { not: { const: except } }) },
    told,
    ...[IsInt(), Min(minimum), Max(maximum)],
    ...(except === undefined ? [] : [NotEquals(except)]),
  );

export const BooleanField = (told: Told) => field({ type: 'boolean' }, told, IsBoolean());

/** One of a few words. */
export const ChoiceField = (values: readonly string[], told: Told & { enumName?: string } = {}) =>
  field({ type: 'string', enum: [...values] }, told, IsOneOf(values));

/** The same in a query, where @nestjs/swagger drops all words that do not stand in a schema of their own. */
export const QueryChoiceField = (values: readonly string[], told: Told = {}) =>
  field(
    { type: 'string', schema: { enum: [...values] } },
    { presence: 'optional', ...told },
    IsOneOf(values),
  );

/** @param words what is told of a text that does not match */
export const PatternField = (pattern: RegExp, words: string, told: Told) =>
  field(
    { type: 'string', pattern: pattern.source },
    told,
    Matches(pattern, { message: `$property ${words}` }),
  );

/**
 * A text of one line, of at most so many characters: no control characters, for PostgreSQL stores no NUL, and no half of
 * a surrogate pair, for that is no character.
 */
export const TextField = ({
  longest,
  notBlank = false,
  ...told
}: Told & { longest: number; notBlank?: boolean }) => {
  const pattern = (count: string) => `^${notBlank ? '(?=\\s*\\S)' : ''}[^\\p{Cc}\\p{Cs}]${count}$`;
  return field(
    { type: 'string', minLength: 1, maxLength: longest, pattern: pattern('*') },
    told,
    Matches(new RegExp(pattern(`{1,${longest}}`), 'u'), {
      message: `$property must be 1 to ${longest} characters, control characters not among them`,
    }),
  );
};

/** A text that only its maker reads. */
export const OpaqueField = (told: Told) =>
  field({ type: 'string', minLength: 1 }, told, IsString(), IsNotEmpty());

function IsOneOf(values: readonly string[]): PropertyDecorator {
  return IsIn(values, { message: `$property must be one of: ${values.join(', ')}` });
}

function IsIdentifier(options?: ValidationOptions): PropertyDecorator {
  return ValidateBy(
    {
      name: 'isIdentifier',
      validator: {
        validate: isIdentifier,
        defaultMessage: () => NO_IDENTIFIER,
      },
    },
    options,
  );
}
