import type { Schema } from '../../api/schemas.ts';
import { sessions as words } from '../../strings.ts';
import { gameLink, operatorLink, playerLink, providerLink, sessionLink } from '../links/record-links.tsx';
import { Time } from '../values/time.tsx';
import type { Column } from './data-table.tsx';

type Session = Schema<'SessionItem'>;

/** The columns of a list of sessions. */
export const SESSION_COLUMNS: readonly Column<Session>[] = [
  { title: words.session, cell: sessionLink },
  { title: words.createdAt, cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    title: words.status,
    cell: ({ status, revokeReason }) => [status, revokeReason].filter(Boolean).join(' '),
  },
  { title: words.player, cell: playerLink },
  { title: words.operator, cell: operatorLink },
  { title: words.provider, cell: providerLink },
  { title: words.game, cell: gameLink },
  {
    title: words.currency,
    cell: ({ currency, mode }) => (mode === 'DEMO' ? `${currency} ${mode}` : currency),
  },
  { title: words.expiresAt, cell: ({ expiresAt }) => <Time at={expiresAt} /> },
];
