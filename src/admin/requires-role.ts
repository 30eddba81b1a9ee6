import { applyDecorators, SetMetadata, UseInterceptors } from '@nestjs/common';
import { ApiBearerAuth, ApiExtension } from '@nestjs/swagger';
import { Unsigned } from '../api/caller.js';
import { RecordRefusals } from '../audit/refusals.js';
import { NEEDED_ROLE } from '../openapi/roles.js';
import { REQUIRED_ROLE } from './admin-route.js';
import type { Role } from './role.js';

/**
 * The route requires `Authorization: Bearer`, with a key or token of an administrator who has this role or one that
 * includes it. The audit log records each refusal with 403 or 409.
 */
export const RequiresRole = (role: Role) =>
  applyDecorators(
    Unsigned(),
    SetMetadata(REQUIRED_ROLE, role),
    UseInterceptors(RecordRefusals),
    ApiBearerAuth('admin-key'),
    ApiExtension(NEEDED_ROLE, role),
  );
