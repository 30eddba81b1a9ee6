import type { Schema } from '../../api/schemas.ts';
import { addressOf } from '../../parts/addresses.ts';
import type { Column } from '../../parts/data-table.tsx';
import { IdLink } from '../../parts/id-link.tsx';
import { Stake } from '../../parts/stake.tsx';
import { Time } from '../../parts/time.tsx';
import { players as words } from '../../strings.ts';

/** The columns of a player's grants of free spins. */
export const GRANT_COLUMNS: readonly Column<Schema<'GrantResponse'>>[] = [
  {
    title: words.grant,
    cell: ({ requestRef }) => <IdLink id={requestRef} href={addressOf.grant(requestRef)} />,
  },
  { title: words.createdAt, cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    title: words.state,
    cell: ({ state }) => (state === 'FAILED' ? <strong class="alarm">{state}</strong> : state),
  },
  { title: words.spins, numeric: true, cell: ({ spins }) => spins },
  {
    title: words.stake,
    numeric: true,
    cell: ({ stakeMinor, currency }) => <Stake minor={stakeMinor} currency={currency} />,
  },
  { title: words.remaining, numeric: true, cell: ({ remainingSpins }) => remainingSpins },
  { title: words.game, cell: ({ gameId }) => <IdLink id={gameId} href={addressOf.game(gameId)} /> },
  {
    title: words.provider,
    cell: ({ providerId }) => <IdLink id={providerId} href={addressOf.provider(providerId)} />,
  },
];
