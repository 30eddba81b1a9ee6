import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiBearerAuth, ApiExtension } from '@nestjs/swagger';
import { Unsigned } from '../http/caller.js';
import { NEEDED_ROLE } from '../openapi/roles.js';
import type { Role } from './role.js';

export const REQUIRED_ROLE = 'croupier:required-role';

/** The route is an administrator's: `Authorization: Bearer <admin key>`, of this role or a higher one. */
export const RequiresRole = (role: Role) =>
  applyDecorators(
    Unsigned(),
    SetMetadata(REQUIRED_ROLE, role),
    ApiBearerAuth('admin-key'),
    ApiExtension(NEEDED_ROLE, role),
  );
