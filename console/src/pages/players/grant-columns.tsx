import type { Schema } from '../../api/schemas.ts';
import { gameLink, grantLink, providerLink } from '../../parts/links/record-links.tsx';
import { STAKE_COLUMN } from '../../parts/lists/amount-columns.tsx';
import type { Column } from '../../parts/lists/data-table.tsx';
import { Time } from '../../parts/values/time.tsx';
import { players as words } from '../../strings.ts';

/** The columns of a player's grants of free spins. */
export const GRANT_COLUMNS: readonly Column<Schema<'GrantResponse'>>[] = [
  { title: words.grant, cell: grantLink },
  { title: words.createdAt, cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    title: words.state,
    cell: ({ state }) => (state === 'FAILED' ? <strong class="alarm">{state}</strong> : state),
  },
  { title: words.spins, numeric: true, cell: ({ spins }) => spins },
  STAKE_COLUMN,
  { title: words.remaining, numeric: true, cell: ({ remainingSpins }) => remainingSpins },
  { title: words.game, cell: gameLink },
  { title: words.provider, cell: providerLink },
];
