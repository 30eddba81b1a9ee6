import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { type ActingRequest, actsAs } from '../audit/actor.js';
import { Refusals } from '../audit/refusals.js';
import { isSandboxAdminKey } from '../config/keys.js';
import { isLoopback } from '../config/trusted-proxies.js';
import { CroupierError } from '../errors/croupier-error.js';
import { pathOf } from '../server/express-adapter.js';
import { BoundedLogger } from '../observability/bounded-logger.js';
import { REQUIRED_ROLE } from './admin-route.js';
import { Administrators } from './administrators.service.js';
import { type Administrator, holds, type Role } from './role.js';
import { WrongKeyLimit } from './wrong-key-limit.js';

/** Accepts credentials of at most 8,192 characters, because tokens of an OpenID provider can be long. */
const BEARER = /^Bearer +([\x21-\x7e]{1,8192})$/i;

/**
 * Protects each `AdminRoute`: a request needs the credential of an administrator who has the role. Contract, section 7.
 * @throws CroupierError UNAUTHORIZED · FORBIDDEN · RATE_LIMITED after too many wrong keys or refused calls
 */
@Injectable()
export class AdminGuard implements CanActivate {
  private readonly logger = new BoundedLogger('Admin');

  constructor(
    private readonly reflector: Reflector,
    private readonly administrators: Administrators,
    private readonly wrongKeys: WrongKeyLimit,
    private readonly refusals: Refusals,
  ) {}

  async canActivate(context: ExecutionContext): Promise<true> {
    const required = this.reflector.getAllAndOverride<Role | undefined>(REQUIRED_ROLE, [
      context.getHandler(),
      context.getClass(),
    ]);
    return required === undefined || this.holdsRole(context, required);
  }

  private async holdsRole(context: ExecutionContext, required: Role): Promise<true> {
    const request = context.switchToHttp().getRequest<ActingRequest>();
    const key = credentialOf(request);
    if (key === undefined) throw unauthorized();
    requireLoopback(request, key);
    const { id, name, roles, expiresAt } = await this.holder(key, request);
    const role = roles.join('+') || 'none';
    const actor = actsAs(request, { actor: id, name, role, roles, expiresAt }, async () => {
      const current = await this.administrators.identify(key);
      return current !== undefined && holds(current.roles, required);
    });
    this.refusals.admit(actor);
    if (holds(roles, required)) return true;
    const refusal = new CroupierError('FORBIDDEN', `this needs the role ${required}`);
    await this.refusals.record(context, actor, refusal);
    throw refusal;
  }

  private async holder(key: string, request: ActingRequest): Promise<Administrator> {
    // A closed connection has no address.
    const { ip: address = '' } = request;
    const find = () => this.administrators.identify(key);
    const administrator = await this.wrongKeys.lookUp(address, key, find);
    if (administrator) return administrator;
    this.logger.warn({ msg: 'admin key refused', address, path: pathOf(request) });
    throw unauthorized();
  }
}

/** The key or token of a request; undefined without a valid `Authorization` header. */
export function credentialOf({ headers }: Pick<ActingRequest, 'headers'>): string | undefined {
  return BEARER.exec(headers.authorization ?? '')?.[1];
}

/**
 * Refuses the sandbox's own key, which everyone knows, at another host. A web page whose host name resolves to this
 * machine could use it, because its requests have the page's own origin; only their Host header reveals it.
 * @throws CroupierError FORBIDDEN
 */
function requireLoopback({ headers }: ActingRequest, key: string): void {
  if (!isSandboxAdminKey(key) || isLoopback(hostIn(headers.host))) return;
  throw new CroupierError(
    'FORBIDDEN',
    "the sandbox's own key is accepted only at localhost or a loopback address",
  );
}

/** The host of a `Host` header, without its port and without the brackets of an IPv6 address. */
function hostIn(header = ''): string {
  return header.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');
}

function unauthorized(): CroupierError {
  return new CroupierError('UNAUTHORIZED', undefined, { 'WWW-Authenticate': 'Bearer' });
}
