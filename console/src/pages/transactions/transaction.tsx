import { useRoute } from 'preact-iso';
import { answer, api } from '../../api/client.ts';
import type { Schema } from '../../api/schemas.ts';
import { AdjustmentButton } from '../../parts/actions/adjustment.tsx';
import { isMissing, Missing } from '../../parts/frame/missing.tsx';
import { addressOf } from '../../parts/links/addresses.ts';
import { IdLink } from '../../parts/links/id-link.tsx';
import { useTitle } from '../../parts/links/page.ts';
import {
  gameLink,
  operatorLink,
  playerLink,
  providerLink,
  roundLink,
  sessionLink,
  transactionLink,
} from '../../parts/links/record-links.tsx';
import { type Column, Rows } from '../../parts/lists/data-table.tsx';
import {
  eventsOf,
  isUndecided,
  kindText,
  RoundDetailsLink,
  TransactionState,
} from '../../parts/lists/transaction-columns.tsx';
import { Loaded } from '../../parts/reading/loaded.tsx';
import { RefreshButton } from '../../parts/reading/refresh-button.tsx';
import { type Resource, useResource } from '../../parts/reading/resource.ts';
import { Advice } from '../../parts/values/advice.tsx';
import { Details } from '../../parts/values/details.tsx';
import { transactionMoney } from '../../parts/values/money.tsx';
import { Time } from '../../parts/values/time.tsx';
import { transactions as words } from '../../strings.ts';
import { Comparison } from './comparison.tsx';
import { ResolveButton, SettleButton } from './corrections.tsx';
import { Timeline } from './timeline.tsx';

type Detail = Schema<'TransactionDetail'>;
type Attempt = Schema<'AttemptResponse'>;

export default function TransactionPage() {
  const { providerId = '', transactionId = '' } = useRoute().params;
  useTitle(words.titleOf(transactionId));
  const detail: Resource<Detail> = useResource<Detail>(
    `${providerId}/${transactionId}`,
    (signal) =>
      answer(
        api.GET('/v1/admin/transactions/{providerId}/{transactionId}', {
          params: { path: { providerId, transactionId } },
          signal,
        }),
      ),
    { on: eventsOf(() => [{ providerId, transactionId, state: detail.data.value?.state }]) },
  );
  if (isMissing(detail)) return <Missing kind="transaction" />;
  return (
    <>
      <h1 class="h4">
        {words.transaction} <span class="id">{transactionId}</span>
      </h1>
      <Loaded of={detail}>{(data) => <Story data={data} reload={detail.reload} />}</Loaded>
    </>
  );
}

interface StoryProps {
  readonly data: Detail;
  readonly reload: () => void;
}

function Story({ data, reload }: StoryProps) {
  return (
    <>
      <Advice advice={data.advice}>
        <Buttons data={data} reload={reload} />
      </Advice>
      <p class="h5">
        {kindText(data)}{' '}
        <span class="money">{transactionMoney(data.kind, data.amountMinor, data.currency)}</span>{' '}
        <TransactionState of={data} />
      </p>
      <Comparison data={data} />
      <Timeline data={data} />
      <Facts data={data} />
      <Attempts attempts={data.attempts} />
    </>
  );
}

/** What the advice names, and what else can be done. */
function Buttons({ data, reload }: StoryProps) {
  const { state, kind, mode, operatorId, playerRef, currency, amountMinor } = data;
  return (
    <>
      {isUndecided(state) && <ResolveButton data={data} onDone={reload} />}
      {isUndecided(state) && <SettleButton data={data} onDone={reload} />}
      {mode === 'REAL' && kind !== undefined && (
        <AdjustmentButton
          operatorId={operatorId}
          playerRef={playerRef}
          currency={currency}
          amountMinor={amountMinor === 0 ? undefined : amountMinor}
          reason={words.adjustmentReason(data.providerId, data.transactionId)}
          onDone={reload}
        />
      )}
      <RefreshButton reload={reload} />
    </>
  );
}

function Facts({ data }: { readonly data: Detail }) {
  const { providerId, transactionId, sessionId, rollbackId, originalTransactionId } = data;
  const target =
    data.kind === 'ADJUSTMENT' ? `adjustment:${transactionId}` : `transaction:${providerId}/${transactionId}`;
  const session = sessionId === undefined ? undefined : addressOf.session(sessionId);
  return (
    <Details
      items={[
        [words.player, playerLink(data)],
        [words.operator, operatorLink(data)],
        [words.provider, providerLink(data)],
        [words.round, roundLink(data)],
        [words.roundDetails, data.roundDetailsUrl && <RoundDetailsLink url={data.roundDetailsUrl} />],
        [words.session, sessionLink(data)],
        [words.game, gameLink(data)],
        [
          words.originalTransactionId,
          originalTransactionId && transactionLink({ providerId, transactionId: originalTransactionId }),
        ],
        [words.rollbackId, rollbackId && transactionLink({ providerId, transactionId: rollbackId })],
        [words.freeSpinsRef, data.freeSpinsRef],
        [words.promotionRef, data.promotionRef],
        [words.reason, data.reason],
        [words.createdAt, <Time at={data.createdAt} />],
        [words.updatedAt, <Time at={data.updatedAt} />],
        [words.parkedAt, data.parkedAt && <Time at={data.parkedAt} />],
        [words.leaseUntil, data.leaseUntil && <Time at={data.leaseUntil} />],
        [words.verdict, data.verdict],
        [words.platformTransactionId, <IdLink id={data.platformTransactionId} />],
        [words.callbacks, session && <a href={`${session}#callbacks`}>{words.callbacksOfSession}</a>],
        [words.audit, <a href={addressOf.list('audit', { target })}>{words.auditOf}</a>],
      ]}
    />
  );
}

const ATTEMPT_COLUMNS: readonly Column<Attempt>[] = [
  { title: words.attempt, cell: ({ attempt }) => attempt },
  { title: words.startedAt, cell: ({ startedAt }) => <Time at={startedAt} /> },
  { title: words.driver, cell: ({ driver }) => driver },
  { title: words.outcome, cell: ({ outcome, notSent }) => (notSent ? words.notSent(outcome) : outcome) },
  { title: words.httpStatus, numeric: true, cell: ({ operatorStatus }) => operatorStatus },
  {
    title: words.duration,
    numeric: true,
    cell: ({ durationMs }) => durationMs !== undefined && words.milliseconds(durationMs),
  },
  { title: words.told, cell: ({ told }) => told && (told.code ?? told.status) },
  { title: words.detail, cell: ({ detail, reason }) => [reason, detail].filter(Boolean).join('; ') },
  { title: words.requestId, cell: ({ requestId }) => <IdLink id={requestId} /> },
];

function Attempts({ attempts }: { readonly attempts: readonly Attempt[] }) {
  if (attempts.length === 0) return null;
  return (
    <Rows
      caption={words.attempts}
      columns={ATTEMPT_COLUMNS}
      rows={attempts}
      keyOf={({ attempt }) => String(attempt)}
    />
  );
}
