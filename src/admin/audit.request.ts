import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, Matches } from 'class-validator';
import type { Columns } from '../http/list.js';
import { InstantField } from '../http/instant.js';
import { PageQuery } from '../http/page.js';

/** No entry has control characters in these, and PostgreSQL cannot even be asked for NUL. */
const IsWritten = () =>
  Matches(/^[^\p{Cc}\p{Cs}]{0,512}$/u, {
    message: '$property must be at most 512 characters, control characters not among them',
  });

/** Contract, section 7, "audit". What is left out restricts nothing; texts are compared as a whole. */
export class AuditQuery extends PageQuery {
  @ApiPropertyOptional({
    example: 'key:5f0b…',
    description: '`root` · `key:<id>` · `jwt:<subject>` · `operator:<id>`',
  })
  @IsOptional()
  @IsWritten()
  actor?: string;

  @ApiPropertyOptional({ example: 'provider.change' })
  @IsOptional()
  @IsWritten()
  action?: string;

  @ApiPropertyOptional({ example: 'provider:acme-games' })
  @IsOptional()
  @IsWritten()
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
