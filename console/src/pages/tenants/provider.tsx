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
import { providers as words, tenants } from '../../strings.ts';
import { Health } from './health.tsx';
import { RotateSecret } from './secret.tsx';

export default function Provider() {
  const { id = '' } = useRoute().params;
  useTitle(words.one(id));
  const provider = useResource(`provider ${id}`, (signal) =>
    answer(api.GET('/v1/admin/providers/{id}', { params: { path: { id } }, signal })),
  );
  return (
    <>
      <h1 class="h4">{words.one(id)}</h1>
      <Loaded of={provider}>
        {(data) => (
          <>
            <Pausing kind="provider" id={id} pause={data.pause} onDone={provider.reload} />
            <Health kind="provider" id={id} />
            <Facts provider={data} />
            <Changes provider={data} onDone={provider.reload} />
            <RotateSecret kind="provider" id={id} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Facts({ provider }: { readonly provider: Schema<'ProviderResponse'> }) {
  const { id, name, status, webhookBaseUrl, lateSettlementSeconds, requestsPerSecond } = provider;
  return (
    <Details
      items={[
        [tenants.name, name],
        [tenants.status, status],
        [words.webhookBaseUrl, webhookBaseUrl],
        [words.lateSettlement, tenants.seconds(lateSettlementSeconds)],
        [tenants.requestsPerSecond, requestsPerSecond ?? tenants.installation],
        [tenants.created, <Time at={provider.createdAt} />],
        [tenants.updated, <Time at={provider.updatedAt} />],
        [
          tenants.more,
          <span class="links">
            <a href={addressOf.list('transactions', { providerId: id })}>{tenants.transactions}</a>
            <a href={addressOf.list('audit', { target: `provider:${id}` })}>{tenants.audit}</a>
          </span>,
        ],
      ]}
    />
  );
}

function Changes({
  provider,
  onDone,
}: {
  readonly provider: Schema<'ProviderResponse'>;
  readonly onDone: () => void;
}) {
  const { id, name, status, webhookBaseUrl, lateSettlementSeconds, requestsPerSecond } = provider;
  return (
    <EditForm
      title={words.change}
      label={words.change}
      role="admin"
      fields={[
        { name: 'name', label: tenants.name, value: name },
        { name: 'status', label: tenants.status, value: status, options: ['ACTIVE', 'DISABLED'] },
        {
          name: 'webhookBaseUrl',
          label: words.webhookBaseUrl,
          value: webhookBaseUrl,
          hint: tenants.addressHint,
        },
        {
          name: 'lateSettlementSeconds',
          label: words.lateSettlement,
          value: String(lateSettlementSeconds),
          hint: words.lateSettlementHint,
          wrong: tenants.notInteger,
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
          api.PATCH('/v1/admin/providers/{id}', { params: { path: { id } }, body: requestOf(changes) }),
        );
        return undefined;
      }}
      onDone={onDone}
    />
  );
}

function requestOf(changes: Readonly<Record<string, string>>): Schema<'ChangeProviderRequest'> {
  const { lateSettlementSeconds, requestsPerSecond, ...texts } = changes;
  const integer = (text: string) => (text === '' ? null : Number(text));
  return {
    ...texts,
    ...(lateSettlementSeconds !== undefined && { lateSettlementSeconds: integer(lateSettlementSeconds) }),
    ...(requestsPerSecond !== undefined && { requestsPerSecond: integer(requestsPerSecond) }),
  };
}
