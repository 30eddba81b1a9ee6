import { useRoute } from 'preact-iso';
import { answer, api } from '../../api/client.ts';
import type { Schema } from '../../api/schemas.ts';
import { operators as words, tenants } from '../../strings.ts';
import { integerField, type TenantField, type TenantKind } from './tenant-kind.ts';
import { TenantList } from './tenant-list.tsx';
import { TenantPage } from './tenant.tsx';

type Operator = Schema<'OperatorResponse'>;

const CURRENCIES: TenantField<Operator> = {
  name: 'currencies',
  label: words.currencies,
  hint: words.currenciesHint,
  textOf: ({ currencies }) => currencies?.join(' ') ?? '',
  shownOf: ({ currencies }) => currencies?.join(' ') ?? words.anyCurrency,
  sent: (text) => (text === '' ? null : text.toUpperCase().split(/[\s,]+/)),
};

const OPERATORS: TenantKind<Operator> = {
  kind: 'operator',
  words,
  list: (query, signal) => answer(api.GET('/v1/admin/operators', { params: { query }, signal })),
  read: (id, signal) => answer(api.GET('/v1/admin/operators/{id}', { params: { path: { id } }, signal })),
  create: ({ id, name, address }) =>
    answer(api.POST('/v1/admin/operators', { body: { id, name, walletBaseUrl: address } })),
  addressField: {
    name: 'walletBaseUrl',
    label: words.walletBaseUrl,
    hint: tenants.addressHint,
    textOf: ({ walletBaseUrl }) => walletBaseUrl,
  },
  ownFields: [
    integerField('walletTimeoutMs', words.walletTimeout, ({ walletTimeoutMs }) => walletTimeoutMs),
    CURRENCIES,
  ],
  listed: CURRENCIES,
};

/** All operators; one of them if the address names it. */
export default function Operators() {
  const { id } = useRoute().params;
  return id === undefined ? <TenantList of={OPERATORS} /> : <TenantPage of={OPERATORS} id={id} />;
}
