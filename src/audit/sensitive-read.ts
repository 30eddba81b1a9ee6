import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  SetMetadata,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Observable } from 'rxjs';
import type { ActingRequest } from './actor.js';
import { Audit } from './audit.service.js';

const SENSITIVE_READ = 'croupier:sensitive-read';

/** The route shows players or money: each request to it is recorded before it is answered. */
export const SensitiveRead = (action: string) => SetMetadata(SENSITIVE_READ, action);

/** Records a sensitive read, with what was asked for, after the guards and before the handler. */
@Injectable()
export class SensitiveReadInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly audit: Audit,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const action = this.reflector.get<string | undefined>(SENSITIVE_READ, context.getHandler());
    const request = context.switchToHttp().getRequest<ActingRequest>();
    if (action !== undefined && request.actor) {
      await this.audit.read(request.actor, { action, target: `path:${request.path}`, after: request.query });
    }
    return next.handle();
  }
}
