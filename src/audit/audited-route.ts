import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { prefersCsv } from '../api/lists/list.js';
import { parseJsonObject } from '../api/validation/json.js';
import { isIdentifier } from '../api/validation/identifier.js';
import type { ActingRequest } from './actor.js';
import { Audit } from './audit.service.js';
import type { NewEntry } from './entry.js';
import { RepeatedEntries } from './repeated-entries.js';

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

interface RouteMetadata {
  readonly route: AuditedRoute;
  readonly sensitiveRead: boolean;
}

/** @param sensitiveRead whether the route shows players or money, so that each request is recorded before it is answered */
export const Audited = (route: AuditedRoute, sensitiveRead = false) =>
  SetMetadata(AUDITED, { route, sensitiveRead } satisfies RouteMetadata);

function metadataOf(context: ExecutionContext, reflector: Reflector): RouteMetadata | undefined {
  return reflector.get<RouteMetadata | undefined>(AUDITED, context.getHandler());
}

export function isPolled(context: ExecutionContext, reflector: Reflector): boolean {
  return metadataOf(context, reflector)?.route[2]?.polled ?? false;
}

/** The action and target that `Audited` sets for the request's route; without it, `route.call` and the route's path. */
export function newEntryOf(context: ExecutionContext, reflector: Reflector): NewEntry {
  const request = context.switchToHttp().getRequest<Request>();
  const metadata = metadataOf(context, reflector);
  if (metadata) {
    const [action, target] = metadata.route;
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

  async canActivate(context: ExecutionContext): Promise<true> {
    const request = context.switchToHttp().getRequest<ActingRequest>();
    const { actor, query } = request;
    if (!actor || !metadataOf(context, this.reflector)?.sensitiveRead) return true;
    // A poll reads a page; the same address as CSV is the whole list.
    const entries = isPolled(context, this.reflector) && !prefersCsv(request) ? this.repeated : this.audit;
    await entries.record(actor, { ...newEntryOf(context, this.reflector), after: query });
    return true;
  }
}
