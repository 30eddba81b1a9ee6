import { applyDecorators, type Type } from '@nestjs/common';
import { ApiBody, ApiOperation } from '@nestjs/swagger';
import type { ErrorCode } from '../errors/catalogue.js';
import { ApiErrors } from './api-errors.js';

export interface RouteDescription {
  readonly summary: string;
  readonly description?: string;
  readonly body?: Type<object>;
  /** The errors that the operation itself can answer, besides those of every route of its audience. */
  readonly errors?: readonly ErrorCode[];
}

/** Documents an operation. */
export function DescribedRoute(operationId: string, description: RouteDescription): MethodDecorator {
  const { summary, description: more, body, errors = [] } = description;
  return applyDecorators(
    ApiOperation({ operationId, summary, ...(more !== undefined && { description: more }) }),
    ...(body ? [ApiBody({ type: body })] : []),
    ApiErrors(...errors),
  );
}
