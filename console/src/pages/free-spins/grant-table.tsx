import type { Schema } from '../../api/schemas.ts';
import { gameLink, grantLink, playerLink } from '../../parts/links/record-links.tsx';
import { STAKE_COLUMN } from '../../parts/lists/amount-columns.tsx';
import type { Column } from '../../parts/lists/data-table.tsx';
import { Time } from '../../parts/values/time.tsx';
import { freeSpins as words } from '../../strings.ts';

type Grant = Schema<'GrantResponse'>;

const COLOURS: Readonly<Record<Grant['state'], string>> = {
  PENDING: 'text-bg-info',
  GRANTED: 'text-bg-success',
  FAILED: 'text-bg-danger',
  CANCELLED: 'text-bg-secondary',
};

export function GrantState({ state }: Pick<Grant, 'state'>) {
  return <span class={`badge ${COLOURS[state]}`}>{words.stateOf[state]}</span>;
}

/** Why a person may have to look at a grant, in the service's words. */
export function problemOfGrant({ failure, lastCancelError, duplicateOf }: Grant): string | undefined {
  if (failure) return failure.outcomeUnknown ? words.unknown(failure.error) : failure.error;
  if (lastCancelError !== undefined) return words.notCancelled(lastCancelError);
  return duplicateOf === undefined ? undefined : words.duplicate(duplicateOf);
}

export const GRANT_COLUMNS: readonly Column<Grant>[] = [
  { title: words.grant, cell: grantLink },
  { title: words.state, cell: ({ state }) => <GrantState state={state} /> },
  { title: words.player, cell: playerLink },
  { title: words.spins, numeric: true, cell: ({ spins }) => spins },
  STAKE_COLUMN,
  { title: words.problem, cell: problemOfGrant },
  { title: words.game, cell: gameLink },
  { title: words.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
];
