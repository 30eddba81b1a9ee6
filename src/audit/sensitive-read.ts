import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { pathOf } from '../http/server/express-adapter.js';
import type { ActingRequest, Actor } from './actor.js';
import { Audit } from './audit.service.js';

const SENSITIVE_READ = 'croupier:sensitive-read';

/** The route shows players or money: each request to it is recorded before it is answered. */
export const SensitiveRead = (action: string) => SetMetadata(SENSITIVE_READ, action);

/** Records a sensitive read, with what was asked for: the last of the guards, before the handler. */
@Injectable()
export class SensitiveReadGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly audit: Audit,
  ) {}

  canActivate(context: ExecutionContext): true | Promise<true> {
    const action = this.reflector.get<string | undefined>(SENSITIVE_READ, context.getHandler());
    const request = context.switchToHttp().getRequest<ActingRequest>();
    return action === undefined || !request.actor || this.record(request.actor, action, request);
  }

  private async record(actor: Actor, action: string, request: ActingRequest): Promise<true> {
    const target = `path:${pathOf(request)}`;
    await this.audit.read(actor, { action, target, after: request.query });
    return true;
  }
}
