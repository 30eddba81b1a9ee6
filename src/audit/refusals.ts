import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { catchError, type Observable } from 'rxjs';
import { CATALOGUE } from '../errors/catalogue.js';
import { CroupierError } from '../errors/croupier-error.js';
import { BoundedLogger } from '../observability/bounded-logger.js';
import type { ActingRequest, Actor } from './actor.js';
import { newEntryOf } from './audited-route.js';
import type { NewEntry } from './entry.js';
import { RepeatedEntries } from './repeated-entries.js';

/** Records refusals of administrators' calls. Contract, section 9, "Roles". */
@Injectable()
export class Refusals {
  private readonly logger = new BoundedLogger('Audit');

  constructor(private readonly repeated: RepeatedEntries) {}

  /** Never rejects: a refusal is answered even if it cannot be recorded. */
  async record(actor: Actor, entry: NewEntry, { code, message }: CroupierError): Promise<void> {
    try {
      await this.repeated.record(actor, { ...entry, after: { error: message }, outcome: code });
    } catch (error) {
      const detail = (error as Error).message;
      this.logger.warn({ msg: 'a refusal cannot be recorded', action: entry.action, code, detail });
    }
  }
}

/** Statuses of refusals that are recorded: a missing role, and a conflict with the stored state. */
const RECORDED: readonly number[] = [403, 409];

/** Records refusals of an administrator's route. The guard records those for a missing role. */
@Injectable()
export class RecordRefusals implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly refusals: Refusals,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { actor } = context.switchToHttp().getRequest<ActingRequest>();
    if (!actor) return next.handle();
    return next.handle().pipe(
      catchError(async (error: unknown): Promise<never> => {
        if (error instanceof CroupierError && RECORDED.includes(CATALOGUE[error.code].status)) {
          await this.refusals.record(actor, newEntryOf(context, this.reflector), error);
        }
        throw error;
      }),
    );
  }
}
