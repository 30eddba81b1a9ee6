import {
  applyDecorators,
  type CanActivate,
  type ExecutionContext,
  Injectable,
  SetMetadata,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { ActingRequest, Actor } from './actor.js';
import { Audit } from './audit.service.js';
import { Audited, isPolled, newEntryOf } from './audited-route.js';
import type { NewEntry } from './entry.js';
import { RepeatedEntries } from './repeated-entries.js';

const SENSITIVE_READ = 'croupier:sensitive-read';

/**
 * Marks a route that shows players or money: each request is recorded before it is answered. If the route is polled,
 * repetitions are only counted, and their number is recorded later. Takes the parameters of `Audited`.
 */
export const SensitiveRead = (...route: Parameters<typeof Audited>) =>
  applyDecorators(Audited(...route), SetMetadata(SENSITIVE_READ, true));

/**
 * Records a sensitive read with its query parameters. It is the last guard, so it does not record a read that another
 * guard refuses.
 */
@Injectable()
export class SensitiveReadGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly audit: Audit,
    private readonly repeated: RepeatedEntries,
  ) {}

  canActivate(context: ExecutionContext): true | Promise<true> {
    if (!this.reflector.get<true | undefined>(SENSITIVE_READ, context.getHandler())) return true;
    const { actor, query } = context.switchToHttp().getRequest<ActingRequest>();
    if (!actor) return true;
    const entry = { ...newEntryOf(context, this.reflector), after: query };
    return this.record(actor, entry, isPolled(context, this.reflector));
  }

  private async record(actor: Actor, entry: NewEntry, polled: boolean): Promise<true> {
    await (polled ? this.repeated.record(actor, entry) : this.audit.record(actor, entry));
    return true;
  }
}
