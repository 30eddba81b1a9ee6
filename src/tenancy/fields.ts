import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { IsIn, IsInt, IsOptional, IsString, Matches, Max, MaxLength, Min, ValidateIf } from 'class-validator';
import { WALLET_ADAPTERS } from './tenant.js';

/** Whether a field may be left out, and whether null says so too. */
export type Presence = 'required' | 'optional' | 'nullable';

/** A year of 365 days; a round that outlives its session for longer is settled by a person. */
const LONGEST_LATE_SETTLEMENT_SECONDS = 31_536_000;
const HIGHEST_REQUESTS_PER_SECOND = 1_000_000;

const TENANT_ID = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/;
/** PostgreSQL stores no NUL, and half a surrogate pair is no character. */
const NAME = /^[^\p{Cc}\p{Cs}]{1,128}$/u;

export const TenantId = (example: string) =>
  field('required', { example, pattern: TENANT_ID.source }, [
    Matches(TENANT_ID, { message: '$property must be 1 to 64 of A-Z a-z 0-9 . _ -, and not . or ..' }),
  ]);

export const Name = (example: string, presence: Presence) =>
  field(presence, { type: String, example, minLength: 1, maxLength: 128 }, [
    Matches(NAME, { message: '$property must be 1 to 128 characters, control characters not among them' }),
  ]);

/** A disabled one is refused from the next second on. Contract, section 3, "Settling after the session". */
export const StatusField = (presence: Presence) =>
  field(presence, { type: String, enum: ['ACTIVE', 'DISABLED'], description: 'a new one is ACTIVE' }, [
    IsIn(['ACTIVE', 'DISABLED'], { message: '$property must be ACTIVE or DISABLED' }),
  ]);

export const RequestsPerSecond = () =>
  field(
    'nullable',
    {
      type: 'integer',
      minimum: 1,
      maximum: HIGHEST_REQUESTS_PER_SECOND,
      example: 500,
      description: '`REQUESTS_PER_SECOND` by default, and with null',
    },
    [IsInt(), Min(1), Max(HIGHEST_REQUESTS_PER_SECOND)],
  );

export const LateSettlementSeconds = () =>
  field(
    'nullable',
    {
      type: 'integer',
      minimum: 0,
      maximum: LONGEST_LATE_SETTLEMENT_SECONDS,
      example: 86_400,
      description: '0 by default, and with null',
    },
    [IsInt(), Min(0), Max(LONGEST_LATE_SETTLEMENT_SECONDS)],
  );

/** https, without credentials, query or fragment: judged in whole by `checkBaseUrl`. Contract, section 4. */
export const BaseUrl = (example: string, presence: Presence) =>
  field(presence, { type: String, format: 'uri', example }, [IsString(), MaxLength(2048)]);

export const WalletAdapter = () =>
  field(
    'optional',
    { type: String, enum: [...WALLET_ADAPTERS], description: 'a new operator has signed-json' },
    [IsIn(WALLET_ADAPTERS, { message: `$property must be one of: ${WALLET_ADAPTERS.join(', ')}` })],
  );

/** Its upper bound follows from the configured lease: judged where the operator is stored. */
export const WalletTimeoutMs = () =>
  field(
    'nullable',
    {
      type: 'integer',
      minimum: 1,
      example: 5000,
      description:
        '`OPERATOR_TIMEOUT_MS` by default, and with null; at least 1 s less than `TRANSACTION_LEASE_SECONDS`',
    },
    [IsInt(), Min(1)],
  );

function field(
  presence: Presence,
  documented: ApiPropertyOptions,
  constraints: PropertyDecorator[],
): PropertyDecorator {
  if (presence === 'required') return applyDecorators(ApiProperty(documented), ...constraints);
  const absent = presence === 'nullable' ? IsOptional() : ValidateIf((_, value) => value !== undefined);
  const options = { ...documented, ...(presence === 'nullable' && { nullable: true }) };
  return applyDecorators(ApiPropertyOptional(options), absent, ...constraints);
}
