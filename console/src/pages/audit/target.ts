import { addressOf } from '../../parts/links/addresses.ts';

const PAGES: Readonly<Record<string, (id: string) => string>> = {
  adjustment: (id) => addressOf.transaction('platform', id),
  approval: addressOf.approval,
  attention: addressOf.attentionItem,
  batch: addressOf.batch,
  game: addressOf.game,
  grant: addressOf.grant,
  operator: addressOf.operator,
  provider: addressOf.provider,
  session: addressOf.session,
};

/**
 * The page of an entry's target; undefined if there is none.
 * @param target its kind and id, such as `provider:acme-games` or `transaction:acme-games/bet-1001`
 */
export function targetPage(target: string): string | undefined {
  const colon = target.indexOf(':');
  const [kind, id] = [target.slice(0, Math.max(colon, 0)), target.slice(colon + 1)];
  const slash = id.indexOf('/');
  if (kind === 'transaction' && slash > 0)
    return addressOf.transaction(id.slice(0, slash), id.slice(slash + 1));
  if (kind === 'round' && slash > 0) return addressOf.round(id.slice(0, slash), id.slice(slash + 1));
  if (kind === 'limit' && slash > 0)
    return addressOf.list('limits', { operatorId: id.slice(0, slash), currency: id.slice(slash + 1) });
  return id === '' ? undefined : PAGES[kind]?.(id);
}
