import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, Matches } from 'class-validator';
import { type Role, ROLES } from './role.js';

/** PostgreSQL stores no NUL, and half a surrogate pair is no character. */
const NAME = /^[^\p{Cc}\p{Cs}]{1,128}$/u;

const ROLE = { enum: ROLES, enumName: 'Role', description: '`admin` holds `promotions` holds `support`' };

/** Contract, section 7, "Keys". */
export class CreateKeyRequest {
  @ApiProperty({ example: 'Night shift', minLength: 1, maxLength: 128 })
  @Matches(NAME, { message: '$property must be 1 to 128 characters, control characters not among them' })
  name: string;

  @ApiProperty({ ...ROLE, example: 'support' })
  @IsIn(ROLES, { message: `$property must be one of: ${ROLES.join(', ')}` })
  role: Role;
}

export class KeyResponse {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ example: 'Night shift' })
  name: string;

  @ApiProperty({ ...ROLE, example: 'support' })
  role: Role;

  @ApiProperty()
  createdAt: Date;

  @ApiProperty({
    type: Date,
    nullable: true,
    description: 'the last use, up to a minute old; null: never used',
  })
  lastUsedAt: Date | null;
}

export class CreatedKeyResponse extends KeyResponse {
  @ApiProperty({
    description: 'what goes behind `Authorization: Bearer`; it is shown here and never again',
    example: 'u1Yw0mR8m3vQm0bq8u7o2nqk8sC1mJ6Yt0eVb5n3x9A',
  })
  key: string;
}

export class KeyListResponse {
  @ApiProperty({ type: [KeyResponse] })
  items: KeyResponse[];

  @ApiPropertyOptional()
  nextCursor?: string;
}
