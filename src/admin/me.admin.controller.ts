import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiProperty, ApiPropertyOptional, ApiTags } from '@nestjs/swagger';
import { type Actor, ActorOfRequest } from '../audit/actor.js';
import { Configuration } from '../config/configuration.js';
import { VERSION } from '../runtime/build.js';
import { Instance } from '../runtime/instance.js';
import { AdminRoute } from './admin-route.js';
import { type Role, ROLES } from './role.js';

class MeResponse {
  @ApiProperty({ example: 'key:0b7c3c1e-52a1-4c0b-9d38-6a0f3f6f2d11', description: 'As in the audit log' })
  actor: string;

  @ApiProperty({ example: 'Night shift', description: "The key's name, the token's subject, or `root`" })
  name: string;

  @ApiProperty({
    enum: ROLES,
    enumName: 'Role',
    example: 'operations',
    description: 'Of several roles, the first of `admin`, `operations`, `promotions`, `support`, `auditor`',
  })
  role: Role;

  @ApiPropertyOptional({
    enum: ROLES,
    enumName: 'Role',
    isArray: true,
    description: 'All roles, if no single one includes the others; otherwise absent',
  })
  roles?: readonly Role[];

  @ApiPropertyOptional({ description: 'When the key or token expires; absent if it does not' })
  expiresAt?: Date;

  @ApiProperty({ enum: ['sandbox', 'production'], description: '`production` unless the sandbox runs' })
  environment: 'sandbox' | 'production';

  @ApiProperty({ example: '1.0.0', description: 'The version of the service' })
  version: string;

  @ApiProperty({ format: 'uuid', description: 'The instance that answered; a new id at each start' })
  instance: string;
}

/** Contract, section 7. */
@ApiTags('Keys')
@Controller('v1/admin/me')
export class MeAdminController {
  constructor(
    private readonly configuration: Configuration,
    private readonly instance: Instance,
  ) {}

  @Get()
  @AdminRoute('getMe', { role: 'auditor', summary: "Read the caller's name and role" })
  @ApiOkResponse({ type: MeResponse })
  me(@ActorOfRequest() { actor, name = actor, roles = [], expiresAt }: Actor): MeResponse {
    return {
      actor,
      name,
      role: roles[0] as Role,
      ...(roles.length > 1 && { roles: roles as readonly Role[] }),
      ...(expiresAt && { expiresAt }),
      environment: this.configuration.sandbox ? 'sandbox' : 'production',
      version: VERSION,
      instance: this.instance.id,
    };
  }
}
