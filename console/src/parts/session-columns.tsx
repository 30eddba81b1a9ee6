import type { Schema } from '../api/schemas.ts';
import { sessions as words } from '../strings.ts';
import { addressOf } from './addresses.ts';
import type { Column } from './data-table.tsx';
import { IdLink } from './id-link.tsx';
import { Time } from './time.tsx';
import { playerAddress, ProviderLink } from './transaction-columns.tsx';

type Session = Schema<'SessionItem'>;

/** The columns of a list of sessions. */
export const SESSION_COLUMNS: readonly Column<Session>[] = [
  {
    title: words.session,
    cell: ({ sessionId }) => <IdLink id={sessionId} href={addressOf.session(sessionId)} />,
  },
  { title: words.createdAt, cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    title: words.status,
    cell: ({ status, revokeReason }) => [status, revokeReason].filter(Boolean).join(' '),
  },
  {
    title: words.player,
    cell: ({ playerRef, operatorId }) => (
      <IdLink id={playerRef} href={playerAddress(playerRef, operatorId)} />
    ),
  },
  {
    title: words.operator,
    cell: ({ operatorId }) => <IdLink id={operatorId} href={addressOf.operator(operatorId)} />,
  },
  { title: words.provider, cell: ({ providerId }) => <ProviderLink id={providerId} /> },
  { title: words.game, cell: ({ gameId }) => <IdLink id={gameId} href={addressOf.game(gameId)} /> },
  {
    title: words.currency,
    cell: ({ currency, mode }) => (mode === 'DEMO' ? `${currency} ${mode}` : currency),
  },
  { title: words.expiresAt, cell: ({ expiresAt }) => <Time at={expiresAt} /> },
];
