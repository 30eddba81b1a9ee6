import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  SetMetadata,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import type { Observable } from 'rxjs';
import { prefersCsv } from '../api/lists/list.js';
import { parseJsonObject } from '../api/validation/json.js';
import { isIdentifier } from '../api/validation/identifier.js';
import { validParameters } from '../api/validation/query.js';
import type { ActingRequest } from './actor.js';
import type { NewEntry } from './entry.js';
import { Reads } from './reads.js';

const AUDITED = 'croupier:audited';

/** Action, target and whether clients poll the route, for entries that its service does not write: reads and refusals. */
export type AuditedRoute = readonly [
  /** The action that the service records on success. */
  action: string,
  /** `<noun>:<id>` or only a noun; `{field}` stands for a path parameter or a field of the body. */
  target: string,
  /** Of a polled route, an entry is recorded at once; its repetitions within a minute become one more, which counts them. */
  options?: { readonly polled: boolean },
];

export const Audited = (route: AuditedRoute) => SetMetadata(AUDITED, route);

function auditedRouteOf(context: ExecutionContext, reflector: Reflector): AuditedRoute | undefined {
  return reflector.get<AuditedRoute | undefined>(AUDITED, context.getHandler());
}

export function isPolled(context: ExecutionContext, reflector: Reflector): boolean {
  return auditedRouteOf(context, reflector)?.[2]?.polled ?? false;
}

/** The action and target that `Audited` sets for the request's route; without it, `route.call` and the route's path. */
export function newEntryOf(context: ExecutionContext, reflector: Reflector): NewEntry {
  const request = context.switchToHttp().getRequest<Request>();
  const route = auditedRouteOf(context, reflector);
  if (route) {
    const [action, target] = route;
    return { action, target: targetOf(target, request) };
  }
  const { path } = request.route as { path: string };
  return { action: 'route.call', target: `route:${request.method} ${path}` };
}

function targetOf(template: string, request: Request): string {
  const fields: Record<string, unknown> = { ...bodyOf(request), ...request.params };
  const [noun, ids] = template.split(':', 2);
  if (ids === undefined) return template;
  const names = [...ids.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  if (names.some((name) => typeof fields[name] !== 'string')) return noun!;
  return `${noun!}:${names.map((name) => targetPart(fields[name] as string)).join('/')}`;
}

/** The body may be invalid, because a request can be refused before its body is validated. */
function bodyOf({ body }: Request): Record<string, unknown> {
  return parseJsonObject(body as Buffer) ?? {};
}

/** A value that is not an identifier is percent-encoded for the target and cut off after this number of characters. */
const LONGEST = 128;

function targetPart(value: string): string {
  if (isIdentifier(value)) return value;
  // Conversion to a Buffer replaces lone surrogates: JSON may contain them, and encodeURIComponent would throw.
  return encodeURIComponent(Buffer.from(value).toString()).slice(0, LONGEST);
}

/**
 * Records each read of a route that shows players, money or administrators, with its query parameters, before it is
 * answered. An invalid query is refused first, so that its text cannot fill the log, from which nothing is deleted. A read
 * is recorded in its turn: entries are appended one after the other, and each that waits takes a connection.
 * @throws CroupierError INVALID_REQUEST · RATE_LIMITED after too many reads
 */
@Injectable()
export class RecordSensitiveReads implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly reads: Reads,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<ActingRequest>();
    // The guard has set the actor.
    const actor = request.actor!;
    const entry = { ...newEntryOf(context, this.reflector), after: validParameters(context) };
    // A poll reads a page; the same address as CSV is the whole list.
    if (isPolled(context, this.reflector) && !prefersCsv(request)) await this.reads.recordPoll(actor, entry);
    else await this.reads.record(actor, entry);
    return next.handle();
  }
}
