import { type ComponentChildren, Fragment } from 'preact';
import { useRef } from 'preact/hooks';
import { answer, api } from '../../api/client.ts';
import type { Schema } from '../../api/schemas.ts';
import { connection, overview as live } from '../../api/stream.ts';
import { addressOf } from '../../parts/links/addresses.ts';
import { IdLink } from '../../parts/links/id-link.tsx';
import { useTitle } from '../../parts/links/page.ts';
import { moneyColumn } from '../../parts/lists/amount-columns.tsx';
import { type Column, Rows } from '../../parts/lists/data-table.tsx';
import { Loaded } from '../../parts/reading/loaded.tsx';
import { useResource } from '../../parts/reading/resource.ts';
import { Ago, durationText, Left, Time } from '../../parts/values/time.tsx';
import { overview as words } from '../../strings.ts';
import { alarmsOf, worstFirst } from './alarms.ts';
import { Minutes } from './minutes.tsx';

type OverviewData = Schema<'OverviewResponse'>;
type Tenant = Schema<'OverviewTenant'>;

/** Games are paused too, but are not in the overview: their pauses are read at most this often, in milliseconds. */
const PAUSES_MS = 30_000;

export default function Overview() {
  useTitle(words.title);
  const first = useResource('overview', (signal) => answer(api.GET('/v1/admin/overview', { signal })));
  const data = live.value ?? first.data.value;
  return (
    <>
      <h1 class="h4">{words.title}</h1>
      {data ? <Whole data={data} /> : <Loaded of={first}>{() => null}</Loaded>}
    </>
  );
}

function Whole({ data }: { readonly data: OverviewData }) {
  return (
    <>
      <p class="text-body-secondary">
        {words.readAt} <Ago at={data.at} />
      </p>
      <Alarms data={data} />
      <Minutes perMinute={data.perMinute} />
      <div class="grid">
        <Waiting data={data} />
        <Amounts amounts={data.amounts} />
      </div>
      <Pauses />
      <Tenants kind="operator" tenants={data.operators} />
      <Tenants kind="provider" tenants={data.providers} />
      <Instances instances={data.instances} />
    </>
  );
}

/** One look tells whether something is wrong, and where. */
function Alarms({ data }: { readonly data: OverviewData }) {
  const alarms = alarmsOf(data);
  if (alarms.length === 0) {
    const interrupted = connection.value === 'interrupted';
    return (
      <p role="status" class={`alert ${interrupted ? 'alert-secondary' : 'alert-success'} py-2`}>
        {interrupted ? words.wasCalm : words.calm}
      </p>
    );
  }
  return (
    <>
      <p role="status" class="visually-hidden">
        {alarms.map(({ spoken }) => spoken).join(' ')}
      </p>
      <div class="alert alert-danger py-2">
        <strong>{words.alarms(alarms.length)}</strong>
        <ul class="mb-0">
          {alarms.map(({ sentence, spoken, href }) => (
            <li key={spoken}>{href === undefined ? sentence : <a href={href}>{sentence}</a>}</li>
          ))}
        </ul>
      </div>
    </>
  );
}

/** What waits for a person, each with its list. */
function Waiting({ data }: { readonly data: OverviewData }) {
  const rows: readonly { name: string; count: number; href: string }[] = [
    ...Object.entries(data.attention).map(([kind, count]) => ({
      name: words.attentionOf(kind),
      count,
      href: addressOf.list('attention', { kind, state: 'OPEN' }),
    })),
    {
      name: words.approvals,
      count: data.approvalsWaiting,
      href: addressOf.list('approvals', { state: 'WAITING' }),
    },
    { name: words.parked, count: data.parked, href: addressOf.list('transactions', { parked: 'true' }) },
  ];
  const columns: readonly Column<(typeof rows)[number]>[] = [
    { title: words.kind, cell: ({ name }) => name },
    {
      title: words.count,
      numeric: true,
      // The number is the link: a link named Approvals leads to the page of the navigation.
      cell: ({ count, href }) =>
        count === 0 ? (
          count
        ) : (
          <a href={href}>
            <Bad when>{count}</Bad>
          </a>
        ),
    },
  ];
  return <Rows caption={words.waiting} columns={columns} rows={rows} keyOf={({ name }) => name} />;
}

function Amounts({ amounts }: { readonly amounts: OverviewData['amounts'] }) {
  const columns: readonly Column<Schema<'OverviewAmounts'>>[] = [
    { title: words.currency, cell: ({ currency }) => currency },
    moneyColumn(words.bets, ({ betMinor }) => betMinor),
    moneyColumn(words.wins, ({ winMinor }) => winMinor),
  ];
  return (
    <Rows
      caption={words.amounts}
      columns={columns}
      rows={amounts}
      keyOf={({ currency }) => currency}
      empty={words.noAmounts}
    />
  );
}

function Pauses() {
  const readAtMs = useRef(0);
  const pauses = useResource(
    'pauses',
    (signal) => {
      readAtMs.current = Date.now();
      return answer(api.GET('/v1/admin/pauses', { params: { query: { limit: 200 } }, signal }));
    },
    { on: { overview: () => Date.now() - readAtMs.current >= PAUSES_MS } },
  );
  const columns: readonly Column<Schema<'PauseItem'>>[] = [
    { title: words.paused, cell: ({ kind, id }) => <IdLink id={id} href={PAUSED_PAGES[kind](id)} /> },
    { title: words.kind, cell: ({ kind }) => words.kindOf[kind] },
    { title: words.reason, wide: true, cell: ({ reason }) => <span class="reason">{reason}</span> },
    { title: words.since, cell: ({ since }) => <Time at={since} /> },
    {
      title: words.left,
      cell: ({ until }) => (until === undefined ? words.untilResumed : <Left until={until} />),
    },
  ];
  return (
    <Loaded of={pauses}>
      {({ items }) => (
        <Rows
          caption={words.pauses}
          columns={columns}
          rows={items}
          keyOf={({ kind, id }) => `${kind} ${id}`}
          empty={words.noPauses}
        />
      )}
    </Loaded>
  );
}

const PAUSED_PAGES = { GAME: addressOf.game, OPERATOR: addressOf.operator, PROVIDER: addressOf.provider };

interface TenantsProps {
  readonly kind: 'operator' | 'provider';
  readonly tenants: readonly Tenant[];
}

function Tenants({ kind, tenants }: TenantsProps) {
  const columns: readonly Column<Tenant>[] = [
    { title: words.name, cell: ({ id, name }) => <a href={addressOf[kind](id)}>{name}</a> },
    { title: words.state, cell: ({ state }) => <Bad when={state !== 'ok'}>{words.stateOf[state]}</Bad> },
    {
      title: words.successRate,
      numeric: true,
      cell: ({ successRate }) => (successRate === null ? '–' : words.percent(successRate)),
    },
    { title: words.p95, numeric: true, cell: ({ p95Ms }) => (p95Ms === null ? '–' : `${p95Ms} ms`) },
    { title: words.perMinute, numeric: true, cell: ({ perMinute }) => perMinute },
    {
      title: words.undecided,
      numeric: true,
      cell: ({ id, undecided }) => (
        <>
          {undecided > 0 && <Undecided filter={{ [`${kind}Id`]: id }} />}
          {undecided}
        </>
      ),
    },
    {
      title: words.oldest,
      numeric: true,
      cell: ({ oldestUndecidedSeconds: seconds }) => (seconds === null ? '–' : durationText(seconds)),
    },
    {
      title: words.pause,
      cell: ({ pause }) => pause && <span class="badge text-bg-warning reason">{pause.reason}</span>,
    },
  ];
  return (
    <Rows caption={words[`${kind}s`]} columns={columns} rows={worstFirst(tenants)} keyOf={({ id }) => id} />
  );
}

/** The list of transactions has a filter for one state; both together are those that the number counts. */
function Undecided({ filter }: { readonly filter: Readonly<Record<string, string>> }) {
  return (
    <span class="small">
      {(['PENDING', 'TIMED_OUT'] as const).map((state) => (
        <Fragment key={state}>
          <a href={addressOf.list('transactions', { ...filter, state })}>{state}</a>{' '}
        </Fragment>
      ))}
    </span>
  );
}

function Instances({ instances }: { readonly instances: OverviewData['instances'] }) {
  const columns: readonly Column<Schema<'OverviewInstance'>>[] = [
    { title: words.instance, cell: ({ id }) => <IdLink id={id} /> },
    { title: words.version, cell: ({ version }) => version },
    { title: words.started, cell: ({ startedAt }) => <Time at={startedAt} /> },
    {
      title: words.state,
      cell: ({ ready }) => <Bad when={!ready}>{ready ? words.ready : words.notReady}</Bad>,
    },
  ];
  return <Rows caption={words.instances} columns={columns} rows={instances} keyOf={({ id }) => id} />;
}

/** What needs a look is bold and red; a colour alone would be unseen by some. */
function Bad({ when, children }: { readonly when: boolean; readonly children: ComponentChildren }) {
  return when ? <strong class="alarm">{children}</strong> : <>{children}</>;
}
