import type { Schema } from '../../api/schemas.ts';
import type { Role } from '../../api/session.ts';
import { addressOf, withQuery } from '../../parts/links/addresses.ts';
import { moneyText } from '../../parts/values/money.tsx';
import { stakeText } from '../../parts/values/stake.tsx';
import { approvals as words } from '../../strings.ts';

type Approval = Schema<'ApprovalItem'>;

/** The role that may do the action, and therefore approve it. Contract, section 9, "Limits and approvals". */
export const ROLE_OF: Readonly<Record<Approval['kind'], Role>> = {
  grant: 'promotions',
  batch: 'promotions',
  adjustment: 'operations',
  settlement: 'operations',
  limit: 'admin',
};

/**
 * The amount of the action; undefined for a change of limits, and for a settlement that states none.
 * @param unknownStake the text for a stake that the provider chooses; by default as in a sentence
 */
export function amountText(approval: Approval, unknownStake?: string): string | undefined {
  const { kind, stakeMinor, amountMinor, currency } = approval;
  if (stakeMinor !== undefined) return stakeText(stakeMinor, currency, unknownStake);
  // A ROLLBACK without an amount is stored with 0: only the summary says which amount it reverses.
  const isStated = amountMinor !== undefined && (kind !== 'settlement' || amountMinor !== 0);
  return isStated ? moneyText(amountMinor, currency) : undefined;
}

/** Kinds that are recorded before a counterpart is called: after an error, they may still be carried out. */
const RECORDED_FIRST: ReadonlySet<Approval['kind']> = new Set(['grant', 'adjustment']);

/** Why an approved action did not have its effect, or may not have it; undefined if it had it, or before the approval. */
export function failureOf({ kind, result }: Schema<'ApprovalResponse'>): string | undefined {
  if (result === undefined) return undefined;
  const { error, state, status, declineReason } = result as Readonly<Record<string, string>>;
  if (error !== undefined) {
    const sentence = RECORDED_FIRST.has(kind) ? words.notConfirmed : words.failed;
    return sentence(error);
  }
  if (kind === 'grant' && state === 'PENDING') return words.notConfirmedYet;
  return kind === 'adjustment' && status === 'DECLINED' ? words.declined(declineReason ?? '') : undefined;
}

/** Whether the outcome of an approved action may still change. The stream has no event for it. */
export function mayStillChange({ kind, result }: Schema<'ApprovalResponse'>): boolean {
  const { error, state } = (result ?? {}) as Readonly<Record<string, string>>;
  return RECORDED_FIRST.has(kind) && (error !== undefined || state === 'PENDING');
}

/** Where the outcome of the action is shown; undefined before the approval, or if nothing was recorded. */
export function outcomePage(approval: Schema<'ApprovalResponse'>): string | undefined {
  const { kind, reference, result, operatorId, currency } = approval;
  if (kind === 'limit') return withQuery(addressOf.list('limits'), { operatorId, currency });
  if (kind === 'settlement') {
    const slash = reference.indexOf('/');
    return addressOf.transaction(reference.slice(0, slash), reference.slice(slash + 1));
  }
  if (result === undefined) return undefined;
  // Also after an error, which does not say whether the action is recorded: the page does.
  if (kind === 'grant') return addressOf.grant(reference);
  if (kind === 'adjustment') return addressOf.transaction('platform', reference);
  return typeof result['batchId'] === 'string' ? addressOf.batch(result['batchId']) : undefined;
}
