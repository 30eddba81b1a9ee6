import type { Schema } from '../../api/schemas.ts';
import type { EditField } from '../../parts/actions/edit-form.tsx';
import { edit, tenants as words } from '../../strings.ts';

export type Listed = Schema<'OperatorResponse'> | Schema<'ProviderResponse'>;

/** A field that can be changed. */
export interface TenantField<Tenant> extends Omit<EditField, 'value'> {
  /** Its current value as it is typed; empty if there is none. */
  readonly textOf: (tenant: Tenant) => string;
  /** Its current value as it is shown; by default as it is typed. */
  readonly shownOf?: (tenant: Tenant) => string;
  /** Numbers are aligned to the right in a list. */
  readonly numeric?: boolean;
  /** The value to send for what was typed; by default the text itself. */
  readonly sent?: (text: string) => unknown;
}

/** What distinguishes operators and providers: their words, routes and fields. */
export interface TenantKind<Tenant extends Listed> {
  readonly kind: 'operator' | 'provider';
  readonly words: {
    readonly title: string;
    readonly one: (id: string) => string;
    readonly create: string;
    readonly willCreate: string;
    readonly change: string;
  };
  readonly list: (query: object, signal: AbortSignal) => Promise<{ items: Tenant[]; nextCursor?: string }>;
  readonly read: (id: string, signal: AbortSignal) => Promise<Tenant>;
  /** @param address the value of the field `addressField` */
  readonly create: (tenant: { id: string; name: string; address: string }) => Promise<{ secret: string }>;
  /** The address at which the platform calls it; needed to create one. */
  readonly addressField: TenantField<Tenant>;
  /** The other fields that only this kind has. */
  readonly ownFields: readonly TenantField<Tenant>[];
  /** The field that the list shows. */
  readonly listed: TenantField<Tenant>;
}

/** An integer, or nothing for the installation's default. */
export function integerField<Tenant>(
  name: string,
  label: string,
  valueOf: (tenant: Tenant) => number | undefined,
): TenantField<Tenant> {
  return {
    name,
    label,
    numeric: true,
    hint: words.emptyIsDefault,
    wrong: words.notInteger,
    textOf: (tenant) => String(valueOf(tenant) ?? ''),
    shownOf: (tenant) => String(valueOf(tenant) ?? words.installation),
    sent: (text) => (text === '' ? null : Number(text)),
  };
}

/** All fields of a kind, in the order in which they are shown. */
export function fieldsOf<Tenant extends Listed>({
  kind,
  addressField,
  ownFields,
}: TenantKind<Tenant>): readonly TenantField<Tenant>[] {
  return [
    { name: 'name', label: words.name, textOf: ({ name }) => name },
    {
      name: 'status',
      label: words.status,
      options: ['ACTIVE', 'DISABLED'],
      consequence: (status) => (status === 'DISABLED' ? edit.disables[kind] : undefined),
      textOf: ({ status }) => status,
    },
    addressField,
    ...ownFields,
    integerField('requestsPerSecond', words.requestsPerSecond, ({ requestsPerSecond }) => requestsPerSecond),
  ];
}
