import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { CroupierError } from '../errors/croupier-error.js';
import { type Administrator, Administrators } from './administrators.service.js';
import { REQUIRED_ROLE } from './requires-role.js';
import { holds, type Role } from './role.js';

/** A request that the guard let pass: it knows who sent it. */
export interface AdministratedRequest extends Request {
  administrator?: Administrator;
}

const BEARER = /^Bearer +([\x21-\x7e]{1,512})$/i;

/**
 * Lets a request to a route with `RequiresRole` pass only with the key of an administrator of that role;
 * all other routes are none of its business. Contract, section 7.
 * @throws CroupierError UNAUTHORIZED · FORBIDDEN
 */
@Injectable()
export class AdminGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly administrators: Administrators,
  ) {}

  async canActivate(context: ExecutionContext): Promise<true> {
    const required = this.reflector.getAllAndOverride<Role | undefined>(REQUIRED_ROLE, [
      context.getHandler(),
      context.getClass(),
    ]);
    if (required === undefined) return true;
    const request = context.switchToHttp().getRequest<AdministratedRequest>();
    const key = BEARER.exec(request.headers.authorization ?? '')?.[1];
    const administrator = key === undefined ? undefined : await this.administrators.behind(key);
    if (!administrator) throw new CroupierError('UNAUTHORIZED', undefined, { 'WWW-Authenticate': 'Bearer' });
    if (!holds(administrator.role, required)) throw new CroupierError('FORBIDDEN');
    request.administrator = administrator;
    return true;
  }
}
