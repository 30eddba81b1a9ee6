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
import { Audited, newEntryOf } from './audited-route.js';
import type { NewEntry } from './entry.js';
import { RepeatedEntries } from './repeated-entries.js';

const SENSITIVE_READ = 'croupier:sensitive-read';

interface ReadOptions {
  /** Whether clients poll the route, so that identical reads within a minute are counted in one entry. */
  readonly polled?: boolean;
}

/** The route shows players or money, so each request to it is recorded before it is answered. */
export const SensitiveRead = (action: string, target: string, options: ReadOptions = {}) =>
  applyDecorators(Audited(action, target), SetMetadata(SENSITIVE_READ, options));

/** Records a sensitive read with its parameters. It is the last guard, right before the handler. */
@Injectable()
export class SensitiveReadGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly audit: Audit,
    private readonly repeated: RepeatedEntries,
  ) {}

  canActivate(context: ExecutionContext): true | Promise<true> {
    const options = this.reflector.get<ReadOptions | undefined>(SENSITIVE_READ, context.getHandler());
    if (options === undefined) return true;
    const { actor, query } = context.switchToHttp().getRequest<ActingRequest>();
    if (!actor) return true;
    return this.record(actor, { ...newEntryOf(context, this.reflector), after: query }, options);
  }

  private async record(actor: Actor, entry: NewEntry, { polled }: ReadOptions): Promise<true> {
    await (polled ? this.repeated.record(actor, entry) : this.audit.read(actor, entry));
    return true;
  }
}
