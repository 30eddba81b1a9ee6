import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { type ActingRequest, actsAs } from '../audit/actor.js';
import { CroupierError } from '../errors/croupier-error.js';
import { pathOf } from '../http/server.js';
import { BoundedLogger } from '../observability/bounded-logger.js';
import type { Administrator } from './administrator.js';
import { Administrators } from './administrators.service.js';
import { FailedKeys } from './failed-keys.js';
import { REQUIRED_ROLE } from './requires-role.js';
import { holds, type Role } from './role.js';

/** What an administrator's own key needs no more than, but a token of an OpenID provider may, in characters. */
const BEARER = /^Bearer +([\x21-\x7e]{1,8192})$/i;

/**
 * Lets a request to a route with `RequiresRole` pass only with the key of an administrator of that role;
 * all other routes are none of its business. An address that sent too many wrong keys has to wait. Contract, section 7.
 * @throws CroupierError UNAUTHORIZED · FORBIDDEN · RATE_LIMITED
 */
@Injectable()
export class AdminGuard implements CanActivate {
  private readonly logger = new BoundedLogger('Admin');

  constructor(
    private readonly reflector: Reflector,
    private readonly administrators: Administrators,
    private readonly failedKeys: FailedKeys,
  ) {}

  canActivate(context: ExecutionContext): true | Promise<true> {
    const required = this.reflector.getAllAndOverride<Role | undefined>(REQUIRED_ROLE, [
      context.getHandler(),
      context.getClass(),
    ]);
    // A signed route costs no promise here.
    return required === undefined || this.holdsRole(context, required);
  }

  private async holdsRole(context: ExecutionContext, required: Role): Promise<true> {
    const request = context.switchToHttp().getRequest<ActingRequest>();
    const key = BEARER.exec(request.headers.authorization ?? '')?.[1];
    if (key === undefined) throw unauthorized();
    const { name, role } = await this.holder(key, request);
    actsAs(request, name, role);
    if (!holds(role, required)) throw new CroupierError('FORBIDDEN');
    return true;
  }

  private async holder(key: string, request: ActingRequest): Promise<Administrator> {
    const { ip: address } = request;
    const waitSeconds = this.failedKeys.waitSeconds(address, key);
    if (waitSeconds > 0)
      throw new CroupierError('RATE_LIMITED', undefined, { 'Retry-After': String(waitSeconds) });
    const administrator = await this.administrators.behind(key);
    if (administrator) {
      this.failedKeys.succeeded(address, key);
      return administrator;
    }
    this.failedKeys.failed(address);
    this.logger.warn({ msg: 'admin key refused', address, path: pathOf(request) });
    throw unauthorized();
  }
}

function unauthorized(): CroupierError {
  return new CroupierError('UNAUTHORIZED', undefined, { 'WWW-Authenticate': 'Bearer' });
}
