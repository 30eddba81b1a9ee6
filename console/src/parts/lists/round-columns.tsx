import type { Schema } from '../../api/schemas.ts';
import { rounds as words } from '../../strings.ts';
import { gameLink, operatorLink, playerLink, providerLink, roundLink } from '../links/record-links.tsx';
import { Time } from '../values/time.tsx';
import { moneyColumn } from './amount-columns.tsx';
import type { Column } from './data-table.tsx';
import { RoundDetailsLink } from './transaction-columns.tsx';

type Round = Schema<'RoundItem'>;

/** The state of a round in words. The API calls a round whose only BET is undecided not open, too. */
export const roundState = (open: boolean, undecided: boolean) =>
  words.stateOf[open ? 'open' : undecided ? 'undecided' : 'closed'];

/** The columns of a list of rounds. */
export const ROUND_COLUMNS: readonly Column<Round>[] = [
  { title: words.round, cell: roundLink },
  { title: words.createdAt, cell: ({ createdAt }) => <Time at={createdAt} /> },
  moneyColumn(words.bet, ({ betMinor }) => betMinor),
  moneyColumn(words.win, ({ winMinor }) => winMinor),
  moneyColumn(words.net, ({ netMinor }) => netMinor),
  { title: words.state, cell: ({ open, undecided }) => roundState(open, undecided > 0) },
  { title: words.transactions, numeric: true, cell: ({ transactions }) => transactions },
  {
    title: words.undecided,
    numeric: true,
    cell: ({ undecided }) => (undecided > 0 ? <strong class="alarm">{undecided}</strong> : undecided),
  },
  { title: words.player, cell: playerLink },
  { title: words.operator, cell: operatorLink },
  { title: words.provider, cell: providerLink },
  { title: words.game, cell: gameLink },
  { title: words.details, cell: ({ roundDetailsUrl }) => <RoundDetailsLink url={roundDetailsUrl} /> },
];

export const roundKey = ({ providerId, roundId, operatorId, playerRef, gameId, mode }: Round) =>
  [providerId, roundId, operatorId, playerRef, gameId, mode].join(' ');
