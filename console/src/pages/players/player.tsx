import { useRoute } from 'preact-iso';
import { answer, api } from '../../api/client.ts';
import { AdjustmentButton } from '../../parts/actions/adjustment.tsx';
import { addressOf } from '../../parts/links/addresses.ts';
import { IdLink } from '../../parts/links/id-link.tsx';
import { usePage, useRedirect, useTitle } from '../../parts/links/page.ts';
import { operatorLink } from '../../parts/links/record-links.tsx';
import { DataTable, Rows } from '../../parts/lists/data-table.tsx';
import { ROUND_COLUMNS, roundKey } from '../../parts/lists/round-columns.tsx';
import { SESSION_COLUMNS } from '../../parts/lists/session-columns.tsx';
import { TRANSACTION_COLUMNS, transactionKey, without } from '../../parts/lists/transaction-columns.tsx';
import { Loaded } from '../../parts/reading/loaded.tsx';
import { RefreshButton } from '../../parts/reading/refresh-button.tsx';
import { useResource } from '../../parts/reading/resource.ts';
import { players as words, rounds, sessions, transactions } from '../../strings.ts';
import { GRANT_COLUMNS } from './grant-columns.tsx';

/** Transactions, rounds and grants that are shown beside the link to the whole list. */
const NEWEST = 10;

export default function PlayerPage() {
  const { playerRef = '' } = useRoute().params;
  const { operatorId } = usePage().query;
  useTitle(words.titleOf(playerRef));
  return (
    <>
      <h1 class="h4">
        {words.player} <span class="id">{playerRef}</span>
      </h1>
      {operatorId === undefined ? (
        <ChooseOperator playerRef={playerRef} />
      ) : (
        <Player key={`${operatorId} ${playerRef}`} playerRef={playerRef} operatorId={operatorId} />
      )}
    </>
  );
}

/** Several operators may have a player with the same reference. They are different people. */
function ChooseOperator({ playerRef }: { readonly playerRef: string }) {
  const found = useResource(playerRef, async (signal) => {
    const { items } = await answer(
      api.GET('/v1/admin/search', { params: { query: { q: playerRef } }, signal }),
    );
    return items.flatMap(({ type, operatorId }) => (type === 'player' ? (operatorId ?? []) : []));
  });
  const [only, ...more] = found.data.value ?? [];
  useRedirect(only !== undefined && more.length === 0 ? addressOf.player(playerRef, only) : undefined);
  return (
    <Loaded of={found}>
      {(ids) =>
        ids.length === 0 ? (
          <p>{words.unknown}</p>
        ) : (
          <>
            <p>{words.chooseOperator}</p>
            <ul>
              {ids.map((id) => (
                <li key={id}>
                  <IdLink id={id} href={addressOf.player(playerRef, id)} />
                </li>
              ))}
            </ul>
          </>
        )
      }
    </Loaded>
  );
}

interface PlayerProps {
  readonly playerRef: string;
  readonly operatorId: string;
}

function Player({ playerRef, operatorId }: PlayerProps) {
  const { url, query } = usePage();
  const filter = { playerRef, operatorId };
  const newest = { ...filter, limit: NEWEST };
  const { cursor } = query;
  const pageOfSessions = cursor === undefined ? filter : { ...filter, cursor };
  const ofSessions = useResource(url, (signal) =>
    answer(api.GET('/v1/admin/sessions', { params: { query: pageOfSessions }, signal })),
  );
  const ofTransactions = useResource(`${operatorId} ${playerRef} transactions`, (signal) =>
    answer(api.GET('/v1/admin/transactions', { params: { query: newest }, signal })),
  );
  const ofRounds = useResource(`${operatorId} ${playerRef} rounds`, (signal) =>
    answer(api.GET('/v1/admin/rounds', { params: { query: newest }, signal })),
  );
  const ofGrants = useResource(`${operatorId} ${playerRef} grants`, (signal) =>
    answer(api.GET('/v1/admin/free-spins', { params: { query: newest }, signal })),
  );
  const reload = () => {
    for (const resource of [ofSessions, ofTransactions, ofRounds, ofGrants]) resource.reload();
  };
  const all = (page: string) => (
    <p>
      <a href={addressOf.list(page, filter)}>{words.all(page)}</a>
    </p>
  );
  return (
    <>
      <p>
        {words.at} {operatorLink({ operatorId })}
      </p>
      <div class="toolbar mb-3">
        <AdjustmentButton
          {...filter}
          currency={ofSessions.data.value?.items.find(({ mode }) => mode === 'REAL')?.currency}
          onDone={reload}
        />
        <RefreshButton reload={reload} />
      </div>
      <Loaded of={ofTransactions}>
        {({ items }) => (
          <Rows
            caption={transactions.title}
            columns={without(TRANSACTION_COLUMNS, transactions.player, transactions.operator)}
            rows={items}
            keyOf={transactionKey}
          />
        )}
      </Loaded>
      {all('transactions')}
      <Loaded of={ofRounds}>
        {({ items }) => (
          <Rows
            caption={rounds.title}
            columns={without(ROUND_COLUMNS, rounds.player, rounds.operator)}
            rows={items}
            keyOf={roundKey}
          />
        )}
      </Loaded>
      {all('rounds')}
      <Loaded of={ofGrants}>
        {({ items }) => (
          <Rows
            caption={words.grants}
            columns={GRANT_COLUMNS}
            rows={items}
            keyOf={({ requestRef }) => requestRef}
          />
        )}
      </Loaded>
      {all('free-spins')}
      <DataTable
        caption={words.sessions}
        list={ofSessions}
        columns={without(SESSION_COLUMNS, sessions.player, sessions.operator)}
        keyOf={({ sessionId }) => sessionId}
      />
    </>
  );
}
