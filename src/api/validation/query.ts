import type { ExecutionContext, Type } from '@nestjs/common';
import type { Request } from 'express';
import { readAs, validInstance } from './request-instance.js';

const QUERY_TYPE = 'croupier:query-type';

/**
 * The query as an instance of the parameter's class, converted by its `@Transform` decorators and validated by its
 * constraints. An unknown or repeated parameter is refused. Contract, section 2.
 * @throws CroupierError INVALID_REQUEST
 */
export const ValidQuery = (): ParameterDecorator => (controller, method, index) => {
  readAs(({ query }, type) => validInstance(type, query as Fields, 'strict'))(controller, method, index);
  const types = Reflect.getMetadata('design:paramtypes', controller, method!) as Type<object>[];
  const handler = Object.getOwnPropertyDescriptor(controller, method!)!.value as object;
  Reflect.defineMetadata(QUERY_TYPE, types[index], handler);
};

/**
 * The parameters of the query, as the caller wrote them, if they are valid; none if the route reads no query. For what
 * precedes the handler.
 * @throws CroupierError INVALID_REQUEST
 */
export function validParameters(context: ExecutionContext): Fields {
  const type = Reflect.getMetadata(QUERY_TYPE, context.getHandler()) as Type<object> | undefined;
  if (!type) return {};
  const query = context.switchToHttp().getRequest<Request>().query as Fields;
  validInstance(type, query, 'strict');
  return query;
}

type Fields = Record<string, unknown>;
