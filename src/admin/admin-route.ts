import { applyDecorators, SetMetadata, UseInterceptors } from '@nestjs/common';
import { ApiBearerAuth, ApiExtension } from '@nestjs/swagger';
import { BoundedReads } from '../api/bounded-reads.js';
import { Unsigned } from '../api/caller.js';
import { DescribedRoute, type RouteDescription } from '../api/described-route.js';
import { Audited, type AuditedRoute, RecordSensitiveReads } from '../audit/audited-route.js';
import { RecordRefusals } from '../audit/refusals.js';
import { NEEDED_ROLE } from '../openapi/descriptions.js';
import type { Role } from './role.js';

export const REQUIRED_ROLE = 'croupier:required-role';

export interface AdminRouteOptions extends RouteDescription {
  /** The caller has this role, or one that includes it. */
  readonly role: Role;
  /** The entry that the service records on success; refusals are recorded with the same action and target. */
  readonly audited?: AuditedRoute;
  /** The entry of each read, for a route that shows players or money. */
  readonly sensitiveRead?: AuditedRoute;
}

/**
 * A route for administrators: requires `Authorization: Bearer` with a key or token of the role, documents the
 * operation, and says what the audit log records. The audit log also records each refusal with 403 or 409. Reads take
 * turns.
 */
export function AdminRoute(operationId: string, options: AdminRouteOptions): MethodDecorator {
  const { role, audited, sensitiveRead } = options;
  return applyDecorators(
    Unsigned(),
    SetMetadata(REQUIRED_ROLE, role),
    UseInterceptors(RecordRefusals, BoundedReads),
    ApiBearerAuth('admin-key'),
    ApiExtension(NEEDED_ROLE, role),
    DescribedRoute(operationId, options),
    ...(audited ? [Audited(audited)] : []),
    ...(sensitiveRead ? [Audited(sensitiveRead), UseInterceptors(RecordSensitiveReads)] : []),
  );
}
