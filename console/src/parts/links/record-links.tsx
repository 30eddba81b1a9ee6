import { addressOf, withQuery } from './addresses.ts';
import { IdLink } from './id-link.tsx';

/* The ids of a record, each with a link to its page, for tables and details; nothing if the record has no such id. */

/** The operator of limits may be `*`, which stands for all operators. */
export const operatorLink = ({ operatorId: id }: { readonly operatorId?: string }) =>
  id && <IdLink id={id} href={id === '*' ? undefined : addressOf.operator(id)} />;

/** Adjustments are booked under `platform`, which is no provider. */
export const providerLink = ({ providerId: id }: { readonly providerId?: string }) =>
  id && <IdLink id={id} href={id === 'platform' ? undefined : addressOf.provider(id)} />;

export const gameLink = ({ gameId: id }: { readonly gameId?: string }) =>
  id && <IdLink id={id} href={addressOf.game(id)} />;

export const sessionLink = ({ sessionId: id }: { readonly sessionId?: string }) =>
  id && <IdLink id={id} href={addressOf.session(id)} />;

export const grantLink = ({ requestRef: id }: { readonly requestRef: string }) => (
  <IdLink id={id} href={addressOf.grant(id)} />
);

interface PlayerOf {
  readonly playerRef: string;
  readonly operatorId: string;
}

export const playerLink = ({ playerRef, operatorId }: PlayerOf) => (
  <IdLink id={playerRef} href={addressOf.player(playerRef, operatorId)} />
);

interface TransactionOf {
  readonly providerId: string;
  readonly transactionId: string;
}

export const transactionLink = ({ providerId, transactionId }: TransactionOf) => (
  <IdLink id={transactionId} href={addressOf.transaction(providerId, transactionId)} />
);

interface RoundOf extends PlayerOf {
  readonly providerId: string;
  readonly roundId?: string;
  readonly gameId?: string;
  readonly mode: 'REAL' | 'DEMO';
}

/** The link names the player, too: several players may have the same id of a round. */
export function roundLink({ providerId, roundId, operatorId, playerRef, gameId, mode }: RoundOf) {
  if (roundId === undefined) return undefined;
  const query = { operatorId, playerRef, gameId, mode: mode === 'DEMO' ? mode : undefined };
  return <IdLink id={roundId} href={withQuery(addressOf.round(providerId, roundId), query)} />;
}
