import * as words from '../../strings.ts';
import type { PageLink } from '../actions/notice.tsx';
import { addressOf } from '../links/addresses.ts';
import type { Resource } from '../reading/resource.ts';

type Kind = Exclude<keyof typeof words.missing, 'hint'>;

const listOf = (page: string, { title }: { readonly title: string }): PageLink => ({
  title,
  address: addressOf.list(page),
});

/** The list in which each kind of record would be. */
const LISTS: Readonly<Record<Kind, PageLink>> = {
  transaction: listOf('transactions', words.transactions),
  round: listOf('rounds', words.rounds),
  session: listOf('players', words.players),
  callback: { title: words.overview.title, address: addressOf.overview },
  grant: listOf('free-spins', words.freeSpins),
  batch: { title: words.freeSpins.batches, address: addressOf.list('free-spins/batches') },
  approval: listOf('approvals', words.approvals),
  item: listOf('attention', words.attention),
  operator: listOf('operators', words.operators),
  provider: listOf('providers', words.providers),
  game: listOf('games', words.games),
  reconciliation: listOf('reconciliation', words.reconciliation),
};

/** Whether the service has no such record. */
export const isMissing = ({ data, problem }: Resource<unknown>) =>
  data.value === undefined && problem.value?.code === 'NOT_FOUND';

/** The page of a record that does not exist. */
export function Missing({ kind }: { readonly kind: Kind }) {
  const { title, address } = LISTS[kind];
  return (
    <>
      <h1 class="h4">{words.missing[kind]}</h1>
      <p>
        {words.missing.hint} <a href={address}>{title}</a>
      </p>
    </>
  );
}
