import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, IsOptional, IsString, Matches, Max, Min, MinLength } from 'class-validator';
import { IsCurrency, IsIdentifier } from '../http/identifier.js';
import type { RevokeReason } from './session.store.js';

/** The longest life that an operator may ask for a session, in seconds: a year. */
const TTL_LIMIT_SECONDS = 31_536_000;

/** For the documents: what a token looks like. */
export const EXAMPLE_TOKEN = 'k0mZ3vE2yq1c7tT9fL4oXWb8sNhRjPdUaGiKxQeVwYA';

/** What a provider sends to verify a session or to read its balance. */
export class SessionTokenRequest {
  @ApiProperty({ description: 'The opaque token of the session', minLength: 1, example: EXAMPLE_TOKEN })
  @IsString()
  @MinLength(1)
  sessionToken: string;
}

export class LaunchRequest {
  @ApiProperty({ example: 'player-42', maxLength: 128 })
  @IsIdentifier()
  playerRef: string;

  @ApiProperty({ example: 'sandbox-slots', maxLength: 128, description: 'Names the provider as well' })
  @IsIdentifier()
  gameId: string;

  @ApiProperty({ example: 'EUR', pattern: '^[A-Z]{3}$' })
  @IsCurrency()
  currency: string;

  @ApiPropertyOptional({ enum: ['REAL', 'DEMO'], default: 'REAL' })
  @IsOptional()
  @IsIn(['REAL', 'DEMO'])
  mode?: 'REAL' | 'DEMO';

  @ApiPropertyOptional({
    description: 'Life in seconds; SESSION_TTL_SECONDS where it is not sent',
    type: 'integer',
    minimum: 1,
    maximum: TTL_LIMIT_SECONDS,
    example: 3600,
  })
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(TTL_LIMIT_SECONDS)
  ttlSeconds?: number;

  @ApiPropertyOptional({ example: 'en', description: 'A language tag such as en or pt-BR' })
  @IsOptional()
  @Matches(/^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8}){0,3}$/, { message: 'language must be a language tag' })
  language?: string;

  @ApiPropertyOptional({ example: 'DE', description: 'ISO 3166-1 alpha-2' })
  @IsOptional()
  @Matches(/^[A-Z]{2}$/, { message: 'country must be 2 upper-case letters' })
  country?: string;
}

const REASONS = ['KICK', 'SELF_EXCLUSION', 'FRAUD_HOLD', 'OTHER'] as const satisfies readonly RevokeReason[];

export class RevokeRequest {
  @ApiProperty({ enum: REASONS })
  @IsIn(REASONS)
  reason: RevokeReason;
}
