import { type CanActivate, type ExecutionContext, type Type, UseGuards } from '@nestjs/common';
import type { Request } from 'express';
import { parseJsonObject } from './json.js';
import { invalid, readAs, unknownField, validInstance } from './request-instance.js';

/**
 * The body as an instance of the parameter's class, parsed and validated after every guard has passed. Nothing in a
 * body is converted: a number sent as a string is refused.
 * @param as the class, if the parameter's type does not name it
 * @throws CroupierError INVALID_REQUEST, or the code that a constraint names in its `context`
 */
export const JsonBody = (as?: Type<object>) =>
  readAs((request, type) => validInstance(type, fieldsOf(request), 'strict'), as);

/**
 * The body of a provider's wallet call. Unknown fields are ignored, and null means that the field is absent.
 * @throws CroupierError as `JsonBody` does
 */
export const ProviderBody = () =>
  readAs((request, type) => validInstance(type, fieldsOf(request), 'lenient'));

/**
 * For a route without a body: any field in a body is refused as unknown.
 * @throws CroupierError INVALID_REQUEST
 */
export const NoBody = () => UseGuards(NoBodyGuard);

class NoBodyGuard implements CanActivate {
  canActivate(context: ExecutionContext): true {
    const [field] = Object.keys(fieldsOf(context.switchToHttp().getRequest<Request>()));
    if (field !== undefined) throw unknownField(field);
    return true;
  }
}

/** Accepts no parameter but `charset=utf-8`, because the body is always decoded as UTF-8. Contract, section 2. */
const JSON_IN_UTF_8 = /^application\/json[ \t]*(?:;[ \t]*(?:charset=(?:utf-8|"utf-8")[ \t]*)?)*$/i;

function fieldsOf({ headers, body }: Request): Record<string, unknown> {
  const bytes = body as Buffer;
  // An absent body is read as {}, so that the refusal names the missing field.
  if (bytes.length === 0) return {};
  if (!JSON_IN_UTF_8.test(headers['content-type'] ?? ''))
    throw invalid('Content-Type must be application/json in UTF-8');
  const fields = parseJsonObject(bytes);
  if (!fields) throw invalid('the request body must be a JSON object');
  return fields;
}
