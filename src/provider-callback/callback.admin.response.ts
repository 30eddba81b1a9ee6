import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Expose } from 'class-transformer';
import { ExposeUnlessNull } from '../api/answer.js';
import { IdentifierField, QueryChoiceField } from '../api/validation/fields.js';
import type { Columns } from '../api/lists/list.js';
import { NextCursor, TimePageQuery } from '../api/lists/time-page.js';
import { CALLBACK_ROUTES } from './callback-messages.js';

/** The filters of the list of callbacks; an absent filter matches all. Contract, section 7. */
export class CallbackQuery extends TimePageQuery {
  @IdentifierField({ presence: 'optional', example: 'sandbox-provider' })
  providerId?: string;

  @QueryChoiceField(CALLBACK_ROUTES)
  route?: string;

  @IdentifierField({ presence: 'optional', description: "A grant's requestRef, or a sessionId" })
  reference?: string;
}

/** One attempt to call a provider, with its request and answer. */
export class CallbackItem {
  @Expose()
  @ApiProperty({ type: 'integer', example: 17 })
  callbackId: number;

  @Expose()
  @ApiProperty({ example: 'sandbox-provider' })
  providerId: string;

  @Expose()
  @ApiProperty({ enum: CALLBACK_ROUTES, example: CALLBACK_ROUTES[1] })
  route: string;

  @Expose()
  @ApiProperty({ example: 'promo-1', description: "A grant's requestRef, or a sessionId" })
  reference: string;

  @ExposeUnlessNull()
  @ApiPropertyOptional({ example: '7d05f135-6a15-439e-b716-23d0af3aa5b3' })
  requestId?: string;

  @Expose()
  @ApiProperty({
    example: '{"externalRef":"spins-7","playerRef":"player-42","gameId":"sandbox-slots"}',
    description: 'The JSON that was sent, byte for byte',
  })
  body: string;

  @ExposeUnlessNull()
  @ApiPropertyOptional({
    type: 'integer',
    example: 200,
    description: "The provider's status, if it answered",
  })
  status?: number;

  @ExposeUnlessNull()
  @ApiPropertyOptional({
    example: '{"remainingSpins":3,"completed":false}',
    description: "The provider's answer, up to 4 KiB",
  })
  answer?: string;

  @ExposeUnlessNull()
  @ApiPropertyOptional({
    description: 'Why there is no complete answer, such as `the provider did not answer within 10000 ms`',
  })
  error?: string;

  @ExposeUnlessNull()
  @ApiPropertyOptional({ type: 'integer', example: 42 })
  durationMs?: number;

  @Expose()
  @ApiProperty({ format: 'date-time', example: '2026-01-31T12:00:00.000Z' })
  createdAt: Date;

  @ExposeUnlessNull()
  @ApiPropertyOptional({
    format: 'date-time',
    example: '2026-01-31T12:00:00.042Z',
    description: 'Absent while the call is under way, or if its instance died and the outcome is unknown',
  })
  completedAt?: Date;
}

export const CALLBACK_COLUMNS: Columns<CallbackItem> = {
  callbackId: true,
  providerId: true,
  route: true,
  reference: true,
  requestId: true,
  body: true,
  status: true,
  answer: true,
  error: true,
  durationMs: true,
  createdAt: true,
  completedAt: true,
};

export class CallbackListResponse extends NextCursor {
  @ApiProperty({ type: [CallbackItem] })
  items: CallbackItem[];
}
