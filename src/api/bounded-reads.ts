import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Request } from 'express';
import { lastValueFrom, type Observable, of } from 'rxjs';
import { ReadTurns } from '../database/read-turns.js';

/** Reads a further page of an answer that has begun, in a turn of its own. */
export type ReadFurther = <T>(read: () => Promise<T>) => Promise<T>;

/** A request whose caller is known. */
export interface AdmittedRequest extends Request {
  /** Identifies the operator or administrator; set by the guard that has authenticated the request. */
  callerId?: string;
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
  constructor(private readonly turns: ReadTurns) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<AdmittedRequest>();
    const { callerId, method } = request;
    if (callerId === undefined || !METHODS.includes(method)) return next.handle();
    request.readFurther = (read) => this.turns.run(callerId, 'begun', read);
    return of(await this.turns.run(callerId, 'request', () => lastValueFrom(next.handle())));
  }
}
