import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { columnsOf } from '../api/lists/item.js';
import { listOf } from '../api/lists/list.js';
import type { AdminKey } from './key.entity.js';
import { ROLE_SCHEMA } from './key.request.js';
import { type Role, ROLES } from './role.js';

export class KeyResponse {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ example: 'Night shift' })
  name: string;

  @ApiProperty({ ...ROLE_SCHEMA, enum: ROLES })
  role: Role;

  @ApiProperty()
  createdAt: Date;

  @ApiProperty({
    type: Date,
    nullable: true,
    example: null,
    description: 'the last use, up to a minute old; null if it was never used',
  })
  lastUsedAt: Date | null;

  @ApiPropertyOptional({
    type: Date,
    description: 'from this time on, the key is refused; absent if only a revocation ends it',
    example: '2099-01-31T06:00:00.000Z',
  })
  expiresAt?: Date;
}

export class CreatedKeyResponse extends KeyResponse {
  @ApiProperty({
    description: 'the value for `Authorization: Bearer`; shown only in this answer',
    example: 'u1Yw0mR8m3vQm0bq8u7o2nqk8sC1mJ6Yt0eVb5n3x9A',
  })
  key: string;
}

export function keyResponse({ id, name, role, createdAt, lastUsedAt, expiresAt }: AdminKey): KeyResponse {
  return { id, name, role, createdAt, lastUsedAt, ...(expiresAt && { expiresAt }) };
}

export const KEY_COLUMNS = columnsOf(KeyResponse);

export class KeyListResponse extends listOf(KeyResponse) {}
