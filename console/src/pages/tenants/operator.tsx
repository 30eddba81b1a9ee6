import { useRoute } from 'preact-iso';
import { answer, api } from '../../api/client.ts';
import type { Schema } from '../../api/schemas.ts';
import { addressOf } from '../../parts/addresses.ts';
import { Details } from '../../parts/details.tsx';
import { EditForm } from '../../parts/edit-form.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Pausing } from '../../parts/pausing.tsx';
import { useResource, useTitle } from '../../parts/resource.ts';
import { Time } from '../../parts/time.tsx';
import { operators as words, tenants } from '../../strings.ts';
import { Health } from './health.tsx';
import { RotateSecret } from './secret.tsx';

export default function Operator() {
  const { id = '' } = useRoute().params;
  useTitle(words.one(id));
  const operator = useResource(`operator ${id}`, (signal) =>
    answer(api.GET('/v1/admin/operators/{id}', { params: { path: { id } }, signal })),
  );
  return (
    <>
      <h1 class="h4">{words.one(id)}</h1>
      <Loaded of={operator}>
        {(data) => (
          <>
            <Pausing kind="operator" id={id} pause={data.pause} onDone={operator.reload} />
            <Health kind="operator" id={id} />
            <Facts operator={data} />
            <Changes operator={data} onDone={operator.reload} />
            <RotateSecret kind="operator" id={id} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Facts({ operator }: { readonly operator: Schema<'OperatorResponse'> }) {
  const { id, name, status, walletBaseUrl, walletTimeoutMs, currencies, requestsPerSecond } = operator;
  return (
    <Details
      items={[
        [tenants.name, name],
        [tenants.status, status],
        [words.walletBaseUrl, walletBaseUrl],
        [words.walletTimeout, walletTimeoutMs === undefined ? tenants.installation : `${walletTimeoutMs} ms`],
        [words.currencies, currencies?.join(' ') ?? words.anyCurrency],
        [tenants.requestsPerSecond, requestsPerSecond ?? tenants.installation],
        [tenants.created, <Time at={operator.createdAt} />],
        [tenants.updated, <Time at={operator.updatedAt} />],
        [tenants.more, <More id={id} />],
      ]}
    />
  );
}

function More({ id }: { readonly id: string }) {
  return (
    <span class="links">
      <a href={addressOf.list('transactions', { operatorId: id })}>{tenants.transactions}</a>
      <a href={addressOf.list('limits')}>{tenants.limits}</a>
      <a href={addressOf.list('audit', { target: `operator:${id}` })}>{tenants.audit}</a>
    </span>
  );
}

function Changes({
  operator,
  onDone,
}: {
  readonly operator: Schema<'OperatorResponse'>;
  readonly onDone: () => void;
}) {
  const { id, name, status, walletBaseUrl, walletTimeoutMs, currencies, requestsPerSecond } = operator;
  return (
    <EditForm
      title={words.change}
      label={words.change}
      role="admin"
      fields={[
        { name: 'name', label: tenants.name, value: name },
        { name: 'status', label: tenants.status, value: status, options: ['ACTIVE', 'DISABLED'] },
        {
          name: 'walletBaseUrl',
          label: words.walletBaseUrl,
          value: walletBaseUrl,
          hint: tenants.addressHint,
        },
        {
          name: 'walletTimeoutMs',
          label: words.walletTimeout,
          value: String(walletTimeoutMs ?? ''),
          hint: tenants.emptyIsDefault,
          wrong: tenants.notInteger,
        },
        {
          name: 'currencies',
          label: words.currencies,
          value: currencies?.join(' ') ?? '',
          hint: words.currenciesHint,
        },
        {
          name: 'requestsPerSecond',
          label: tenants.requestsPerSecond,
          value: String(requestsPerSecond ?? ''),
          hint: tenants.emptyIsDefault,
          wrong: tenants.notInteger,
        },
      ]}
      run={async (changes) => {
        await answer(
          api.PATCH('/v1/admin/operators/{id}', { params: { path: { id } }, body: requestOf(changes) }),
        );
        return undefined;
      }}
      onDone={onDone}
    />
  );
}

function requestOf(changes: Readonly<Record<string, string>>): Schema<'ChangeOperatorRequest'> {
  const { walletTimeoutMs, currencies, requestsPerSecond, ...texts } = changes;
  const integer = (text: string) => (text === '' ? null : Number(text));
  return {
    ...texts,
    ...(walletTimeoutMs !== undefined && { walletTimeoutMs: integer(walletTimeoutMs) }),
    ...(currencies !== undefined && {
      currencies: currencies === '' ? null : currencies.toUpperCase().split(/[\s,]+/),
    }),
    ...(requestsPerSecond !== undefined && { requestsPerSecond: integer(requestsPerSecond) }),
  };
}
