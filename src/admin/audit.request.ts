import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { type FieldOptions, TextField } from '../http/validation/fields.js';
import type { Columns } from '../http/lists/list.js';
import { InstantField } from '../http/validation/instant.js';
import { PageQuery } from '../http/lists/page.js';

/** The exact text of a column of the log; no column holds control characters. */
const ExactTextField = (options: FieldOptions) =>
  TextField({ presence: 'optional', longest: 512, ...options });

/** Contract, section 7, "audit". What is left out restricts nothing; texts are compared as a whole. */
export class AuditQuery extends PageQuery {
  @ExactTextField({
    example: 'key:5f0b…',
    description: '`root` · `key:<id>` · `jwt:<subject>` · `operator:<id>`',
  })
  actor?: string;

  @ExactTextField({ example: 'provider.change' })
  action?: string;

  @ExactTextField({ example: 'provider:acme-games' })
  target?: string;

  @InstantField('from ≤ createdAt')
  from?: string;

  @InstantField('createdAt < to')
  to?: string;
}

export class AuditEntryResponse {
  @ApiProperty({ example: '2026-01-31', description: 'the day, in UTC, whose chain it belongs to' })
  day: string;

  @ApiProperty({ type: 'integer', example: 17, description: 'its place in that chain, from 1 on' })
  position: number;

  @ApiProperty()
  createdAt: Date;

  @ApiProperty({ example: 'root' })
  actor: string;

  @ApiProperty({ example: 'admin' })
  role: string;

  @ApiProperty({ example: 'provider.change' })
  action: string;

  @ApiProperty({ example: 'provider:acme-games' })
  target: string;

  @ApiPropertyOptional({ type: Object, example: { status: 'ACTIVE' } })
  before?: unknown;

  @ApiPropertyOptional({
    type: Object,
    example: { status: 'DISABLED' },
    description: 'of a read, what was asked for',
  })
  after?: unknown;

  @ApiPropertyOptional({ example: '203.0.113.7' })
  address?: string;

  @ApiPropertyOptional()
  requestId?: string;

  @ApiProperty({
    description: 'SHA-256 over this entry and the hash before it, in hex',
    example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  })
  hash: string;
}

/** The columns of an export; what stood there before and after is JSON in its column. */
export const AUDIT_COLUMNS: Columns<AuditEntryResponse> = {
  day: true,
  position: true,
  createdAt: true,
  actor: true,
  role: true,
  action: true,
  target: true,
  before: true,
  after: true,
  address: true,
  requestId: true,
  hash: true,
};

export class AuditListResponse {
  @ApiProperty({ type: [AuditEntryResponse] })
  items: AuditEntryResponse[];

  @ApiPropertyOptional()
  nextCursor?: string;
}
