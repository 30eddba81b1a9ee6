import { useRoute } from 'preact-iso';
import { answer, api } from '../../api/client.ts';
import type { Schema } from '../../api/schemas.ts';
import { isMissing, Missing } from '../../parts/frame/missing.tsx';
import { addressOf } from '../../parts/links/addresses.ts';
import { usePage, useTitle } from '../../parts/links/page.ts';
import {
  gameLink,
  operatorLink,
  playerLink,
  providerLink,
  roundLink,
} from '../../parts/links/record-links.tsx';
import { moneyColumn } from '../../parts/lists/amount-columns.tsx';
import { type Column, Rows } from '../../parts/lists/data-table.tsx';
import {
  eventsOf,
  TRANSACTION_COLUMNS,
  transactionKey,
  without,
} from '../../parts/lists/transaction-columns.tsx';
import { Loaded } from '../../parts/reading/loaded.tsx';
import { RefreshButton } from '../../parts/reading/refresh-button.tsx';
import { type Resource, useResource } from '../../parts/reading/resource.ts';
import { Details } from '../../parts/values/details.tsx';
import { Money } from '../../parts/values/money.tsx';
import { Time } from '../../parts/values/time.tsx';
import { sessions as words, table, transactions } from '../../strings.ts';
import { Callbacks } from './callbacks.tsx';
import { NotifyButton, RevokeButton } from './revocation.tsx';

type Session = Schema<'SessionItem'>;
type PageOfSession = Schema<'SessionDetailPage'>;

export default function SessionPage() {
  const { sessionId = '' } = useRoute().params;
  const { url, path, query } = usePage();
  const { cursor } = query;
  useTitle(words.titleOf(sessionId));
  const page: Resource<PageOfSession> = useResource<PageOfSession>(
    url,
    (signal) =>
      answer(
        api.GET('/v1/admin/sessions/{sessionId}', {
          params: { path: { sessionId }, query: cursor === undefined ? {} : { cursor } },
          signal,
        }),
      ),
    { on: eventsOf(() => page.data.value?.transactions ?? []) },
  );
  const callbacks = useResource(
    sessionId,
    (signal) =>
      answer(api.GET('/v1/admin/callbacks', { params: { query: { reference: sessionId } }, signal })),
    // An item about the session says that the provider does not know its revocation.
    { on: { attention: ({ subject }) => subject === sessionId } },
  );
  const reload = () => {
    page.reload();
    callbacks.reload();
  };
  if (isMissing(page)) return <Missing kind="session" />;
  return (
    <>
      <h1 class="h4">
        {words.title} <span class="id">{sessionId}</span>
      </h1>
      <Loaded of={page}>
        {(data) => (
          <>
            <div class="toolbar mb-3">
              <RevokeButton session={data.session} onDone={reload} />
              {data.session.status === 'REVOKED' && <NotifyButton session={data.session} onDone={reload} />}
              <RefreshButton reload={reload} />
            </div>
            <Facts session={data.session} />
            <Rounds data={data} />
            <Rows
              caption={words.transactions}
              columns={without(TRANSACTION_COLUMNS, ...OWN_COLUMNS)}
              rows={data.transactions}
              keyOf={transactionKey}
            />
            <nav class="d-flex gap-3" aria-label={words.transactions}>
              {cursor !== undefined && <a href={path}>{table.first}</a>}
              {data.nextCursor && (
                <a href={`${path}?${new URLSearchParams({ cursor: data.nextCursor })}`}>{table.next}</a>
              )}
            </nav>
          </>
        )}
      </Loaded>
      <Callbacks of={callbacks} />
    </>
  );
}

const OWN_COLUMNS = [transactions.player, transactions.operator, transactions.provider];

function Facts({ session }: { readonly session: Session }) {
  const { currency } = session;
  const target = `session:${session.sessionId}`;
  return (
    <Details
      items={[
        [words.status, session.status],
        [words.player, playerLink(session)],
        [words.operator, operatorLink(session)],
        [words.provider, providerLink(session)],
        [words.game, gameLink(session)],
        [words.currency, currency],
        [words.mode, session.mode],
        [words.createdAt, <Time at={session.createdAt} />],
        [words.expiresAt, <Time at={session.expiresAt} />],
        [words.revokedAt, session.revokedAt && <Time at={session.revokedAt} />],
        [words.revokeReason, session.revokeReason],
        [
          words.maxBet,
          session.maxBetMinor !== undefined && <Money minor={session.maxBetMinor} currency={currency} />,
        ],
        [words.jurisdiction, session.jurisdiction],
        [
          words.realityCheck,
          session.realityCheckSeconds !== undefined && words.seconds(session.realityCheckSeconds),
        ],
        [words.language, session.language],
        [words.country, session.country],
        [words.audit, <a href={addressOf.list('audit', { target })}>{words.auditOf}</a>],
      ]}
    />
  );
}

function Rounds({ data: { session, rounds } }: { readonly data: PageOfSession }) {
  const rows = rounds.map((round) => ({ ...session, ...round }));
  const columns: readonly Column<(typeof rows)[number]>[] = [
    { title: words.round, cell: roundLink },
    moneyColumn(words.bet, ({ betMinor }) => betMinor),
    moneyColumn(words.won, ({ wonMinor }) => wonMinor),
    {
      title: words.undecided,
      numeric: true,
      cell: ({ undecided }) => (undecided > 0 ? <strong class="alarm">{undecided}</strong> : undecided),
    },
    { title: words.transactionCount, numeric: true, cell: ({ transactionIds }) => transactionIds.length },
  ];
  return <Rows caption={words.rounds} columns={columns} rows={rows} keyOf={({ roundId }) => roundId} />;
}
