import { readAs, validInstance } from './request-instance.js';

/**
 * The query as an instance of the parameter's class, converted by its `@Transform` decorators and validated by its
 * constraints. An unknown or repeated parameter is refused. Contract, section 2.
 * @throws CroupierError INVALID_REQUEST
 */
export const ValidQuery = () =>
  readAs(({ query }, type) => validInstance(type, query as Record<string, unknown>, 'strict'));
