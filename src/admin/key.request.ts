import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ChoiceField, TextField } from '../api/validation/fields.js';
import { InstantField } from '../api/validation/instant.js';
import { columnsOf } from '../api/lists/item.js';
import { listOf } from '../api/lists/list.js';
import type { AdminKey } from './key.entity.js';
import { type Role, ROLES } from './role.js';

const ROLE = {
  enumName: 'Role',
  description:
    '`admin` includes `operations` and `promotions`, each of these includes `support`, and `support` includes `auditor`',
  example: 'support',
};

/** Contract, section 7. */
export class CreateKeyRequest {
  @TextField({ longest: 128, notBlank: true, example: 'Night shift' })
  name: string;

  @ChoiceField(ROLES, ROLE)
  role: Role;

  @InstantField('In the future: when the key expires (if absent, only a revocation ends it)', {
    presence: 'nullable',
    example: '2099-01-31T06:00:00Z',
  })
  expiresAt?: string | null;
}

export class KeyResponse {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ example: 'Night shift' })
  name: string;

  @ApiProperty({ ...ROLE, enum: ROLES })
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
