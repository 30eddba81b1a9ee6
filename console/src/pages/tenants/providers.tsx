import { useRoute } from 'preact-iso';
import { answer, api } from '../../api/client.ts';
import type { Schema } from '../../api/schemas.ts';
import { providers as words, tenants } from '../../strings.ts';
import { integerField, type TenantField, type TenantKind } from './tenant-kind.ts';
import { TenantList } from './tenant-list.tsx';
import { TenantPage } from './tenant.tsx';

type Provider = Schema<'ProviderResponse'>;

const LATE_SETTLEMENT: TenantField<Provider> = {
  ...integerField(
    'lateSettlementSeconds',
    words.lateSettlement,
    ({ lateSettlementSeconds }: Provider) => lateSettlementSeconds,
  ),
  hint: words.lateSettlementHint,
};

const PROVIDERS: TenantKind<Provider> = {
  kind: 'provider',
  words,
  list: (query, signal) => answer(api.GET('/v1/admin/providers', { params: { query }, signal })),
  read: (id, signal) => answer(api.GET('/v1/admin/providers/{id}', { params: { path: { id } }, signal })),
  create: ({ id, name, address }) =>
    answer(api.POST('/v1/admin/providers', { body: { id, name, webhookBaseUrl: address } })),
  addressField: {
    name: 'webhookBaseUrl',
    label: words.webhookBaseUrl,
    hint: tenants.addressHint,
    textOf: ({ webhookBaseUrl }) => webhookBaseUrl,
  },
  ownFields: [LATE_SETTLEMENT],
  listed: LATE_SETTLEMENT,
};

/** All providers; one of them if the address names it. */
export default function Providers() {
  const { id } = useRoute().params;
  return id === undefined ? <TenantList of={PROVIDERS} /> : <TenantPage of={PROVIDERS} id={id} />;
}
