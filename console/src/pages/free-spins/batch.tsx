import { type Signal, useSignal } from '@preact/signals';
import { useRoute } from 'preact-iso';
import { useEffect } from 'preact/hooks';
import { answer, api } from '../../api/client.ts';
import type { Schema } from '../../api/schemas.ts';
import { ActionButton } from '../../parts/actions/action.tsx';
import { isMissing, Missing } from '../../parts/frame/missing.tsx';
import { withQuery } from '../../parts/links/addresses.ts';
import { IdLink } from '../../parts/links/id-link.tsx';
import { usePage, useTitle } from '../../parts/links/page.ts';
import { gameLink, operatorLink, providerLink } from '../../parts/links/record-links.tsx';
import { CsvButton } from '../../parts/lists/csv-button.tsx';
import { type Column, DataTable, Rows } from '../../parts/lists/data-table.tsx';
import { type View, Views } from '../../parts/lists/views.tsx';
import { Loaded } from '../../parts/reading/loaded.tsx';
import { useResource } from '../../parts/reading/resource.ts';
import { Details } from '../../parts/values/details.tsx';
import { moneyText } from '../../parts/values/money.tsx';
import { cancelledText, Stake } from '../../parts/values/stake.tsx';
import { hasPassed, Time, TimeAndLeft } from '../../parts/values/time.tsx';
import { freeSpins as words } from '../../strings.ts';
import { GRANT_COLUMNS } from './grant-table.tsx';
import { GRANTS } from './heading.tsx';
import { Progress } from './progress.tsx';
import { voidUnknown } from './void-unknown.ts';

type Batch = Schema<'BatchItem'>;
type Failure = Schema<'BatchFailure'>;

const VIEWS: readonly View[] = [
  { title: words.allGrants },
  ...Object.entries(words.stateOf).map(([state, title]) => ({ title, query: { state } })),
];

export default function BatchPage() {
  const { batchId = '' } = useRoute().params;
  const { url, query } = usePage();
  useTitle(words.batch);
  const on = { batch: (changed: Batch) => changed.batchId === batchId };
  const params = { path: { batchId } };
  const counts = { ...params, query: { items: 'false' as const } };
  const batch = useResource(
    batchId,
    (signal) => answer(api.GET('/v1/admin/free-spins/batches/{batchId}', { params: counts, signal })),
    { on },
  );
  const failures = useResource(
    `${batchId} failures`,
    (signal) => answer(api.GET('/v1/admin/free-spins/batches/{batchId}/failures', { params, signal })),
    { on },
  );
  const filter = { ...query, batchId };
  const grants = useResource(
    url,
    (signal) => answer(api.GET('/v1/admin/free-spins', { params: { query: filter }, signal })),
    { on },
  );
  // What was read before a failed read may be out of date, and its counts are those of actions.
  const known = failures.problem.value ? undefined : failures.data.value?.items;
  const reload = () => {
    for (const read of [batch, failures, grants]) read.reload();
  };
  if (isMissing(batch)) return <Missing kind="batch" />;
  return (
    <>
      <h1 class="h4">{words.batch}</h1>
      <Loaded of={batch}>{(data) => <Whole batch={data} failures={known} onDone={reload} />}</Loaded>
      <Loaded of={failures}>
        {({ items }) =>
          items.length > 0 && (
            <Rows
              caption={words.failures}
              columns={FAILURES}
              rows={items}
              keyOf={({ error, outcomeUnknown }) => `${error} ${outcomeUnknown}`}
            />
          )
        }
      </Loaded>
      <Views views={VIEWS} />
      <DataTable
        caption={words.grants}
        columns={GRANT_COLUMNS}
        list={grants}
        keyOf={({ requestRef }) => requestRef}
      />
      <div class="toolbar mt-2">
        <CsvButton path="/v1/admin/free-spins" name={`batch-${batchId}`} filter={withoutCursor(filter)} />
        <a href={withQuery(GRANTS, withoutCursor(filter))}>{words.filterGrants}</a>
      </div>
    </>
  );
}

function withoutCursor({ cursor: _cursor, ...filter }: Readonly<Record<string, string>>) {
  return filter;
}

const FAILURES: readonly Column<Failure>[] = [
  { title: words.why, cell: ({ error }) => error },
  { title: words.grants, numeric: true, cell: ({ count }) => count },
  {
    title: words.outcome,
    cell: ({ outcomeUnknown }) => (outcomeUnknown ? <strong>{words.maybeGranted}</strong> : words.refused),
  },
];

interface WholeProps {
  readonly batch: Batch;
  /** Undefined until they are read. */
  readonly failures: readonly Failure[] | undefined;
  readonly onDone: () => void;
}

function Whole({ batch, failures, onDone }: WholeProps) {
  const { batchId, batchRef, gameId, spins, betAmountMinor, currency, total } = batch;
  const stake = betAmountMinor === 0 ? words.defaultStake : moneyText(betAmountMinor, currency);
  return (
    <>
      <p class="fs-5">{words.batchTerms(spins, stake, total, gameId)}</p>
      <Progress counts={batch} />
      <Actions batch={batch} failures={failures} onDone={onDone} />
      <Details
        items={[
          [
            words.stake,
            batch.stakeMinor !== undefined && <Stake minor={batch.stakeMinor} currency={currency} />,
          ],
          [words.completed, batch.completed],
          [words.remaining, batch.remainingSpins],
          [words.checked, batch.statusCheckedAt && <Time at={batch.statusCheckedAt} />],
          [words.batchRef, batchRef && <IdLink id={batchRef} />],
          [words.batchId, <IdLink id={batchId} />],
          [words.operator, operatorLink(batch)],
          [words.provider, providerLink(batch)],
          [words.game, gameLink(batch)],
          [words.created, <Time at={batch.createdAt} />],
          [words.expires, batch.expiresAt && <TimeAndLeft until={batch.expiresAt} />],
        ]}
      />
    </>
  );
}

function Actions({ batch, failures, onDone }: WholeProps) {
  const { batchId, granted, failed, pending, completed = 0, spins, betAmountMinor, currency } = batch;
  const params = { path: { batchId } };
  const unknown = (failures ?? []).reduce(
    (sum, { count, outcomeUnknown }) => sum + (outcomeUnknown ? count : 0),
    0,
  );
  const unread = failures === undefined ? words.failuresUnread : undefined;
  const voided = useSignal(0);
  const includesUnknown = useSignal(false);
  const resent = includesUnknown.value ? failed : failed - unknown;
  const moneyOf = (grants: number) =>
    betAmountMinor === 0
      ? words.unknownStake
      : moneyText(BigInt(grants) * BigInt(spins) * BigInt(betAmountMinor), currency);
  const cancelledOf = (grants: number) => cancelledText(grants * spins, betAmountMinor, currency);
  return (
    <div class="toolbar mb-3">
      <ActionButton
        label={words.cancelBatch}
        role="promotions"
        danger
        sentence={words.cancelBatchSentence(pending, granted, cancelledOf(pending + granted - completed))}
        impossible={granted + pending + failed === 0 ? words.nothingToCancel : undefined}
        run={async () => {
          await answer(api.POST('/v1/admin/free-spins/batches/{batchId}/cancel', { params }));
          return { message: words.cancelling };
        }}
        onDone={onDone}
      />
      <ActionButton
        label={words.resendBatch}
        role="promotions"
        sentence={words.resendBatchSentence(resent, includesUnknown.value, moneyOf(resent))}
        fields={unknown > 0 && <IncludeUnknown count={unknown} included={includesUnknown} />}
        impossible={
          failed === 0 ? words.noneFailed : hasPassed(batch.expiresAt) ? words.batchExpired : unread
        }
        run={async () => {
          const body = { includeUnknown: includesUnknown.value };
          // The page does not change while the dialog is open, but the batch may.
          const { failed: before } = await answer(
            api.GET('/v1/admin/free-spins/batches/{batchId}', { params }),
          );
          const { failed: left } = await answer(
            api.POST('/v1/admin/free-spins/batches/{batchId}/resend', { params, body }),
          );
          // Those that are sent are pending now.
          return left < before
            ? { message: words.resending }
            : { message: words.nothingResent(left), failed: true };
        }}
        onDone={onDone}
      />
      <ActionButton
        label={words.voidBatch}
        role="promotions"
        danger
        sentence={words.voidBatchSentence(unknown, cancelledOf(unknown))}
        fields={<p role="status">{voided.value > 0 && words.voiding(voided.value, unknown)}</p>}
        impossible={(failed === 0 ? undefined : unread) ?? (unknown === 0 ? words.noneUnknown : undefined)}
        run={async () => {
          voided.value = 0;
          const { done, refused } = await voidUnknown(batchId, (count) => (voided.value = count));
          return { message: words.voidedBatch(done, refused), failed: refused.length > 0 };
        }}
        onDone={onDone}
      />
      <ActionButton
        label={words.statusBatch}
        role="support"
        sentence={words.statusBatchSentence(granted)}
        impossible={granted === 0 ? words.noneGranted : undefined}
        run={async () => {
          await answer(api.POST('/v1/admin/free-spins/batches/{batchId}/status', { params }));
          return { message: words.asking(granted) };
        }}
        onDone={onDone}
      />
    </div>
  );
}

interface IncludeUnknownProps {
  readonly count: number;
  readonly included: Signal<boolean>;
}

function IncludeUnknown({ count, included }: IncludeUnknownProps) {
  // The box is not ticked when the dialog is opened again.
  useEffect(() => () => void (included.value = false), []);
  return (
    <label class="form-check mb-3">
      <input
        class="form-check-input"
        type="checkbox"
        checked={included.value}
        onChange={(event) => (included.value = event.currentTarget.checked)}
      />
      <span class="form-check-label">{words.includeUnknown(count)}</span>
    </label>
  );
}
