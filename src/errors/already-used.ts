import { CroupierError } from './croupier-error.js';

/** Refuses a request whose identifier is that of another request, which it would otherwise repeat. */
export function alreadyUsed(identifier: 'requestRef' | 'batchRef' | 'adjustmentId'): CroupierError {
  return new CroupierError('CONFLICT', `this ${identifier} was already used with another request`);
}
