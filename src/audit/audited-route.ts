import { type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { parseJsonObject } from '../api/validation/json.js';
import { isIdentifier } from '../api/validation/identifier.js';
import type { NewEntry } from './entry.js';

const AUDITED = 'croupier:audited';

/** The action and target of a route, for entries that its service does not write: reads and refusals. */
interface AuditedRoute {
  readonly action: string;
  /** `<noun>:<id>` or only a noun; `{field}` stands for a path parameter or a field of the body. */
  readonly target: string;
  /**
   * Whether clients poll the route. If so, an entry is recorded at once, and its repetitions within the next minute
   * become one more entry, which counts them.
   */
  readonly polled?: boolean;
}

/** Sets the action and target of the route's entries. They must be those that its service records on success. */
export const Audited = (action: string, target: string, options: Pick<AuditedRoute, 'polled'> = {}) =>
  SetMetadata(AUDITED, { action, target, ...options } satisfies AuditedRoute);

/** Whether clients poll the route of this request. */
export function isPolled(context: ExecutionContext, reflector: Reflector): boolean {
  return reflector.get<AuditedRoute | undefined>(AUDITED, context.getHandler())?.polled ?? false;
}

/** The action and target that `Audited` sets for the request's route; without it, `route.call` and the route's path. */
export function newEntryOf(context: ExecutionContext, reflector: Reflector): NewEntry {
  const request = context.switchToHttp().getRequest<Request>();
  const route = reflector.get<AuditedRoute | undefined>(AUDITED, context.getHandler());
  if (route) return { action: route.action, target: targetOf(route.target, request) };
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
  try {
    return parseJsonObject(body as Buffer);
  } catch {
    return {};
  }
}

/** A value that is not an identifier is percent-encoded for the target and cut off after this number of characters. */
const LONGEST = 128;

function targetPart(value: string): string {
  if (isIdentifier(value)) return value;
  // Conversion to a Buffer replaces lone surrogates: JSON may contain them, and encodeURIComponent would throw.
  return encodeURIComponent(Buffer.from(value).toString()).slice(0, LONGEST);
}
