import { CroupierError } from '../../errors/croupier-error.js';

export function invalidCursor(): CroupierError {
  return new CroupierError('INVALID_REQUEST', 'cursor must be the nextCursor of an earlier page');
}
