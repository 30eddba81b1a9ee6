import { applyDecorators, SetMetadata, type Type, UseInterceptors } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiExtension, ApiOperation } from '@nestjs/swagger';
import { ApiErrors } from '../api/api-errors.js';
import { Unsigned } from '../api/caller.js';
import { Audited, type AuditedRoute } from '../audit/audited-route.js';
import { RecordRefusals } from '../audit/refusals.js';
import type { ErrorCode } from '../errors/catalogue.js';
import { NEEDED_ROLE } from '../openapi/descriptions.js';
import type { Role } from './role.js';

export const REQUIRED_ROLE = 'croupier:required-role';

export interface AdminRouteOptions {
  /** The caller has this role, or one that includes it. */
  readonly role: Role;
  readonly summary: string;
  readonly description?: string;
  readonly body?: Type<object>;
  /** The entry that the service records on success; refusals are recorded with the same action and target. */
  readonly audited?: AuditedRoute;
  /** The entry of each read, for a route that shows players or money. */
  readonly sensitiveRead?: AuditedRoute;
  /** The errors that the operation itself can answer, besides those of every administrator's route. */
  readonly errors?: readonly ErrorCode[];
}

/**
 * A route for administrators: requires `Authorization: Bearer` with a key or token of the role, documents the
 * operation, and says what the audit log records. The audit log also records each refusal with 403 or 409.
 */
export function AdminRoute(operationId: string, options: AdminRouteOptions): MethodDecorator {
  const { role, summary, description, body, audited, sensitiveRead, errors = [] } = options;
  return applyDecorators(
    Unsigned(),
    SetMetadata(REQUIRED_ROLE, role),
    UseInterceptors(RecordRefusals),
    ApiBearerAuth('admin-key'),
    ApiExtension(NEEDED_ROLE, role),
    ApiOperation({ operationId, summary, ...(description !== undefined && { description }) }),
    ...(body ? [ApiBody({ type: body })] : []),
    ...(audited ? [Audited(audited)] : []),
    ...(sensitiveRead ? [Audited(sensitiveRead, true)] : []),
    ApiErrors(...errors),
  );
}
