import type { Role } from '../../api/roles.ts';
import type { Schema } from '../../api/schemas.ts';
import { addressOf, withQuery } from '../../parts/addresses.ts';

type Approval = Schema<'ApprovalItem'>;

/** The role that may do the action, and therefore approve it. Contract, section 9, "Limits and approvals". */
export const ROLE_OF: Readonly<Record<Approval['kind'], Role>> = {
  grant: 'promotions',
  batch: 'promotions',
  adjustment: 'operations',
  settlement: 'operations',
  limit: 'admin',
};

/** In minor units; undefined for a change of limits. */
export function amountOf({ stakeMinor, amountMinor }: Approval): number | undefined {
  return stakeMinor ?? amountMinor;
}

/** The operator's page; undefined for the installation's default limits. */
export function operatorPage(operatorId: string): string | undefined {
  return operatorId === '*' ? undefined : addressOf.operator(operatorId);
}

/** Where the outcome of the action is shown; undefined before it was carried out, or if it failed. */
export function outcomePage(approval: Schema<'ApprovalResponse'>): string | undefined {
  const { kind, reference, result, operatorId, currency } = approval;
  if (kind === 'limit') return withQuery(addressOf.list('limits'), { operatorId, currency });
  if (kind === 'settlement') {
    const slash = reference.indexOf('/');
    return addressOf.transaction(reference.slice(0, slash), reference.slice(slash + 1));
  }
  if (result === undefined || 'error' in result) return undefined;
  if (kind === 'grant') return addressOf.grant(reference);
  if (kind === 'adjustment') return addressOf.transaction('platform', reference);
  return typeof result['batchId'] === 'string' ? addressOf.batch(result['batchId']) : undefined;
}
