import { type ArgumentsHost, Catch } from '@nestjs/common';
import { CroupierError } from '../../errors/croupier-error.js';
import { ErrorFilter } from '../../server/error.filter.js';
import { Activity } from './activity.service.js';

/**
 * Answers as the filter of all routes does, and counts the signed transactions that were refused. Contract, section 9,
 * "Live view".
 */
@Catch()
export class RefusedTransactions extends ErrorFilter {
  constructor(private readonly activity: Activity) {
    super();
  }

  override catch(exception: unknown, host: ArgumentsHost): void {
    // Only the signature guard sets the tenant.
    const { tenant } = host.switchToHttp().getRequest<{ tenant?: unknown }>();
    if (tenant !== undefined && isRefusal(exception)) this.activity.refused();
    super.catch(exception, host);
  }
}

/**
 * Whether the request was refused before an attempt: any other error leaves a stored transaction, or an unknown outcome.
 * OPERATOR_UNAVAILABLE has `Retry-After` only if the operator was not called. The TRANSACTION_IN_FLIGHT of a request whose
 * attempt was taken over cannot be told apart, and counts, too.
 */
function isRefusal(exception: unknown): boolean {
  if (!(exception instanceof CroupierError)) return false;
  const { code, headers } = exception;
  if (code === 'OPERATOR_UNAVAILABLE') return 'Retry-After' in headers;
  return code !== 'OPERATOR_TIMED_OUT' && code !== 'INTERNAL';
}
