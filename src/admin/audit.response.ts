import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { columnsOf } from '../api/lists/item.js';
import { listOf } from '../api/lists/list.js';

export class AuditEntryResponse {
  @ApiProperty({ example: '2026-01-31', description: 'the day of the entry, in UTC' })
  day: string;

  @ApiProperty({ type: 'integer', example: 17, description: 'its position within the day, from 1' })
  position: number;

  @ApiProperty()
  createdAt: Date;

  @ApiProperty({ example: 'root' })
  actor: string;

  @ApiPropertyOptional({ example: 'Night shift', description: "the key's name, or the token's subject" })
  actorName?: string;

  @ApiProperty({ example: 'admin' })
  role: string;

  @ApiProperty({ example: 'provider.change' })
  action: string;

  @ApiProperty({ example: 'provider:acme-games' })
  target: string;

  @ApiProperty({ example: 'done', description: '`done`, or the error code of a refusal' })
  outcome: string;

  @ApiPropertyOptional({ type: Object, example: { status: 'ACTIVE' } })
  before?: unknown;

  @ApiPropertyOptional({
    type: Object,
    example: { status: 'DISABLED' },
    description: 'the target after the change; for a read, the parameters; for a refusal, its message',
  })
  after?: unknown;

  @ApiPropertyOptional({ example: '203.0.113.7' })
  address?: string;

  @ApiPropertyOptional()
  requestId?: string;

  @ApiProperty({
    description: 'SHA-256 over this entry and the previous hash, in hex',
    example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  })
  hash: string;
}

/** The columns of an export; `before` and `after` are JSON. */
export const AUDIT_COLUMNS = columnsOf(AuditEntryResponse);

export class AuditActionsResponse {
  @ApiProperty({
    type: [String],
    example: ['limit.create', 'provider.change'],
    description: 'In alphabetical order',
  })
  items: readonly string[];
}

export class AuditListResponse extends listOf(AuditEntryResponse) {}
