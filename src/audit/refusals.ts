import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { catchError, type Observable } from 'rxjs';
import { CATALOGUE } from '../errors/catalogue.js';
import { CroupierError } from '../errors/croupier-error.js';
import { BoundedLogger } from '../observability/bounded-logger.js';
import { Clock } from '../runtime/clock.js';
import { failureText } from '../runtime/failure-text.js';
import type { ActingRequest, Actor } from './actor.js';
import { Audit } from './audit.service.js';
import { isPolled, newEntryOf } from './audited-route.js';
import { EntryBudget } from './entry-budget.js';
import { RepeatedEntries } from './repeated-entries.js';

/** Number of refusals in one window after which an administrator has to wait for the window's end. */
const REFUSALS = 1_000;

/**
 * Records each call of an administrator that is refused with 403 or 409 in an entry of its own, with the request id. On
 * a route that clients poll, only the first refusal has an entry of its own. Its repetitions within the next minute
 * become one more entry, which counts them. Contract, section 9, "Roles".
 *
 * The number of entries that one administrator's refused calls can cause is bounded. Such repetitions do not count.
 */
@Injectable()
export class Refusals {
  private readonly logger = new BoundedLogger('Audit');
  private readonly budget: EntryBudget;

  constructor(
    private readonly reflector: Reflector,
    private readonly audit: Audit,
    private readonly repeated: RepeatedEntries,
    clock: Clock,
  ) {
    this.budget = new EntryBudget(REFUSALS, clock);
  }

  /** @throws CroupierError RATE_LIMITED if too many calls of the actor were refused in the current window */
  admit(actor: Actor): void {
    this.budget.requireRest(actor);
  }

  /**
   * Records that the call was refused. Never rejects: a refusal is answered even if it cannot be recorded.
   * @param context the refused call, from which the entry's action and target are derived
   */
  async record(context: ExecutionContext, actor: Actor, { code, message }: CroupierError): Promise<void> {
    const entry = { ...newEntryOf(context, this.reflector), after: { error: message }, outcome: code };
    try {
      const spend = () => this.budget.spend(actor);
      if (isPolled(context, this.reflector)) return await this.repeated.record(actor, entry, spend);
      spend();
      await this.audit.record(actor, entry);
    } catch (error) {
      const detail = failureText(error);
      this.logger.warn({ msg: 'a refusal cannot be recorded', action: entry.action, code, detail });
    }
  }
}

/** Statuses of the refusals that are recorded: 403, not permitted, and 409, a conflict with the stored state. */
const RECORDED: readonly number[] = [403, 409];

/** The outcomes of audit entries: `done`, or the error code of a refusal. */
export const OUTCOMES: readonly string[] = [
  'done',
  ...Object.entries(CATALOGUE).flatMap(([code, { status }]) => (RECORDED.includes(status) ? [code] : [])),
];

/** Records the calls that the handler of an administrator's route refuses. `AdminGuard` records a missing role. */
@Injectable()
export class RecordRefusals implements NestInterceptor {
  constructor(private readonly refusals: Refusals) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { actor } = context.switchToHttp().getRequest<ActingRequest>();
    if (!actor) return next.handle();
    return next.handle().pipe(
      catchError(async (error: unknown): Promise<never> => {
        if (error instanceof CroupierError && OUTCOMES.includes(error.code)) {
          await this.refusals.record(context, actor, error);
        }
        throw error;
      }),
    );
  }
}
