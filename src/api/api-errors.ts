import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiResponse } from '@nestjs/swagger';
import { CATALOGUE, type ErrorCode, type NextAction } from '../errors/catalogue.js';

/** The body of every error, except for an invalid signature. Contract, section 2. */
export class ErrorBody {
  @ApiProperty({ example: 'the session does not match' })
  error: string;
}

/** Documents refusals from the catalogue: one response for each status, one example for each code. */
export function ApiErrors(...codes: ErrorCode[]): MethodDecorator {
  return applyDecorators(...Object.values(errorResponses(codes)).map((response) => ApiResponse(response)));
}

/** Documents one refusal, with a message that differs from the catalogue's. */
export function ApiErrorWithMessage(code: ErrorCode, message: string): MethodDecorator {
  return ApiResponse(response(CATALOGUE[code].status, [code], () => message));
}

export function errorResponses(codes: readonly ErrorCode[]) {
  const statuses = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const { status } = CATALOGUE[code];
    statuses.set(status, [...(statuses.get(status) ?? []), code]);
  }
  return Object.fromEntries([...statuses].map(([status, of]) => [status, response(status, of)]));
}

/**
 * Next actions that a refusal may have instead of the catalogue's. Contract, section 2: a second cancel, while the
 * first is under way, is such a refusal.
 */
const ALSO: Partial<Record<ErrorCode, readonly NextAction[]>> = { CONFLICT: ['wait-then-retry'] };

/**
 * Refusals that may have `Retry-After`. A 500 has it if the request was refused before any work, and a 503 if the
 * refusal is due to a pause that has an end.
 */
const WAITING: ReadonlySet<ErrorCode> = new Set([
  'RATE_LIMITED',
  'OVERLOADED',
  'OPERATOR_UNAVAILABLE',
  'GAME_NOT_CONFIGURED',
  'OPERATOR_NOT_CONFIGURED',
]);

function response(
  status: number,
  codes: readonly ErrorCode[],
  messageOf = (code: ErrorCode): string => CATALOGUE[code].message,
) {
  const rows = codes.map((code) => `\`${code}\` (${CATALOGUE[code].nextAction}): ${messageOf(code)}`);
  return {
    status,
    description: rows.join(' · '),
    headers: {
      'X-Error-Code': {
        description: 'Names the error',
        required: true,
        schema: { type: 'string' as const, enum: [...codes] },
      },
      'X-Next-Action': {
        description: 'What to do next',
        required: true,
        schema: {
          type: 'string' as const,
          enum: [...new Set(codes.flatMap((code) => [CATALOGUE[code].nextAction, ...(ALSO[code] ?? [])]))],
        },
      },
      ...(codes.includes('UNAUTHORIZED') && {
        'WWW-Authenticate': {
          description: '`Bearer`',
          required: codes.every((code) => code === 'UNAUTHORIZED'),
          schema: { type: 'string' as const },
        },
      }),
      ...(codes.includes('PROVIDER_FAILED') && {
        Location: {
          description: 'the record of a grant that is FAILED',
          schema: { type: 'string' as const },
        },
      }),
      ...(codes.some((code) => WAITING.has(code)) && {
        'Retry-After': {
          description: 'whole seconds, at least 1',
          required: codes.every((code) => code === 'RATE_LIMITED'),
          schema: { type: 'integer' as const },
        },
      }),
    },
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/ErrorBody' },
        examples: Object.fromEntries(codes.map((code) => [code, { value: { error: messageOf(code) } }])),
      },
    },
  };
}
