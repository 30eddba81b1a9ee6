/**
 * Every action in the audit log, in alphabetical order. `test/audit/actions.unit.test.ts` compares the list with the
 * code. An action that the code no longer records stays in the list, because entries may have it.
 */
export const ACTIONS: readonly string[] = [
  'adjustment.create',
  'approval.approve',
  'approval.ask',
  'approval.read',
  'approval.reject',
  'approvals.list',
  'attention.assign',
  'attention.close',
  'attention.comment',
  'attention.list',
  'attention.read',
  'attention.snooze',
  'audit.archive',
  'audit.read',
  'callback.read',
  'callbacks.list',
  'free-spins.batch',
  'free-spins.batch-cancel',
  'free-spins.batch-read',
  'free-spins.batch-resend',
  'free-spins.batches-list',
  'free-spins.cancel',
  'free-spins.flagged-list',
  'free-spins.grant',
  'free-spins.list',
  'free-spins.read',
  'free-spins.resend',
  'free-spins.status',
  'free-spins.void',
  'game.create',
  'game.pause',
  'game.replace',
  'game.resume',
  'key.create',
  'key.list',
  'key.revoke',
  'limit.create',
  'limit.remove',
  'limit.replace',
  'operator.change',
  'operator.create',
  'operator.pause',
  'operator.repeat-secret',
  'operator.reseal-secret',
  'operator.resume',
  'operator.rotate-secret',
  'player.revoke-sessions',
  'provider.change',
  'provider.create',
  'provider.pause',
  'provider.repeat-secret',
  'provider.reseal-secret',
  'provider.resume',
  'provider.rotate-secret',
  'round.read',
  'rounds.list',
  'route.call',
  'search',
  'secrets.re-encrypt',
  'session.notify',
  'session.read',
  'session.revoke',
  'sessions.list',
  'transaction.read',
  'transaction.resolve',
  'transaction.settle',
  'transactions.list',
];

/**
 * The actions that a filter selects: the action itself, or with `limit.*` those that begin with `limit.`.
 * @returns an empty list if there is no such action
 */
export function actionsOf(filter: string): readonly string[] {
  if (!filter.endsWith('.*')) return ACTIONS.filter((action) => action === filter);
  const prefix = filter.slice(0, -1);
  return ACTIONS.filter((action) => action.startsWith(prefix));
}
