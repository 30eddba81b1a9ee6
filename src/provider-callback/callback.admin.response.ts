import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { listOf } from '../api/lists/list.js';
import { columnsOf } from '../api/lists/item.js';
import { CALLBACK_ROUTES } from './callbacks.openapi.js';

export class CallbackItem {
  @ApiProperty({ type: 'integer', example: 17 })
  callbackId: number;

  @ApiProperty({ example: 'sandbox-provider' })
  providerId: string;

  @ApiProperty({ enum: CALLBACK_ROUTES, example: CALLBACK_ROUTES[1] })
  route: string;

  @ApiProperty({ example: 'promo-1', description: "A grant's requestRef, or a sessionId" })
  reference: string;

  @ApiPropertyOptional({ example: '7d05f135-6a15-439e-b716-23d0af3aa5b3' })
  requestId?: string;

  @ApiProperty({
    example: '{"externalRef":"spins-7","playerRef":"player-42","gameId":"sandbox-slots"}',
    description: 'The JSON that was sent, byte for byte',
  })
  body: string;

  @ApiPropertyOptional({
    type: 'integer',
    example: 200,
    description: "The provider's status, if it answered",
  })
  status?: number;

  @ApiPropertyOptional({
    example: '{"remainingSpins":3,"completed":false}',
    description: "The provider's answer, up to 4 KiB",
  })
  answer?: string;

  @ApiPropertyOptional({
    description: 'Why there is no complete answer, such as `the provider did not answer within 10000 ms`',
  })
  error?: string;

  @ApiPropertyOptional({ type: 'integer', example: 42 })
  durationMs?: number;

  @ApiProperty({ format: 'date-time', example: '2026-01-31T12:00:00.000Z' })
  createdAt: Date;

  @ApiPropertyOptional({
    format: 'date-time',
    example: '2026-01-31T12:00:00.042Z',
    description: 'Absent while the call is under way, or if its instance died and the outcome is unknown',
  })
  completedAt?: Date;
}

export const CALLBACK_COLUMNS = columnsOf(CallbackItem);

export class CallbackListResponse extends listOf(CallbackItem) {}
