import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Request } from 'express';
import { lastValueFrom, type Observable, of } from 'rxjs';
import { Turns } from '../database/turns.js';
import { CroupierError } from '../errors/croupier-error.js';
import { monotonicMs } from '../runtime/clock.js';

/** Age at which the check of a caller's access is repeated while an answer is read page by page, in milliseconds. */
const CHECK_MS = 3_000;

/** The operator or administrator that a guard has authenticated. */
export interface AdmittedCaller {
  readonly id: string;
  /** Whether the credential of the request is still valid, and still gives access to the route. */
  readonly isStillAdmitted: () => boolean | Promise<boolean>;
}

/**
 * Reads a further page of an answer that has begun, in a turn of its own.
 * @throws CroupierError OVERLOADED · FORBIDDEN if the caller is no longer admitted
 */
export type ReadFurther = <T>(read: () => Promise<T>) => Promise<T>;

/** A request whose caller is known. */
export interface AdmittedRequest extends Request {
  /** Set by the guard that has authenticated the request. */
  caller?: AdmittedCaller;
  /** Set while a read is answered. */
  readFurther?: ReadFurther;
}

/** HEAD has the same routes as GET. */
const METHODS: readonly string[] = ['GET', 'HEAD'];

/**
 * Lets the reads of an operator or administrator take turns. A turn lasts until the handler has read its answer, or the
 * first page of an export, but not while the client receives it.
 * @throws CroupierError OVERLOADED
 */
@Injectable()
export class BoundedReads implements NestInterceptor {
  constructor(private readonly turns: Turns) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<AdmittedRequest>();
    const { caller, method } = request;
    if (!caller || !METHODS.includes(method)) return next.handle();
    request.readFurther = this.furtherOf(caller);
    return of(await this.turns.reads.run(caller.id, 'request', () => lastValueFrom(next.handle())));
  }

  private furtherOf(caller: AdmittedCaller): ReadFurther {
    let checkedMs = monotonicMs();
    return (read) =>
      this.turns.reads.run(caller.id, 'begun', async () => {
        if (monotonicMs() - checkedMs >= CHECK_MS) {
          if (!(await caller.isStillAdmitted()))
            throw new CroupierError('FORBIDDEN', 'the access of the caller has ended');
          checkedMs = monotonicMs();
        }
        return read();
      });
  }
}
