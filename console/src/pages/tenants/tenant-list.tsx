import { overview as live } from '../../api/stream.ts';
import { InputField, textIn } from '../../parts/forms/form-field.tsx';
import { addressOf } from '../../parts/links/addresses.ts';
import { usePage, useTitle } from '../../parts/links/page.ts';
import { CsvButton } from '../../parts/lists/csv-button.tsx';
import { type Column, DataTable } from '../../parts/lists/data-table.tsx';
import { PAUSE_COLUMN } from '../../parts/lists/pause-column.tsx';
import { useResource, WITH_OVERVIEW } from '../../parts/reading/resource.ts';
import { tenants as words } from '../../strings.ts';
import { NewTenant } from './secret.tsx';
import type { Listed, TenantKind } from './tenant-kind.ts';

/** The page of all operators or of all providers. */
export function TenantList<Tenant extends Listed>({ of }: { readonly of: TenantKind<Tenant> }) {
  const { url, query } = usePage();
  const { title, create, willCreate } = of.words;
  useTitle(title);
  const list = useResource(url, (signal) => of.list(query, signal), WITH_OVERVIEW);
  const { name: addressName, label, hint } = of.addressField;
  return (
    <>
      <h1 class="h4">{title}</h1>
      <div class="actions">
        <NewTenant
          kind={of.kind}
          label={create}
          sentence={willCreate}
          fields={<InputField name={addressName} label={label} required hint={hint} />}
          create={async (id, name, form) =>
            (await of.create({ id, name, address: textIn(form, addressName) })).secret
          }
          onDone={list.reload}
        />
        <CsvButton path={`/v1/admin/${of.kind}s`} />
      </div>
      <DataTable caption={title} list={list} keyOf={({ id }) => id} columns={columnsOf(of)} />
    </>
  );
}

/** Their state is that of the live overview. */
function columnsOf<Tenant extends Listed>({ kind, listed }: TenantKind<Tenant>): readonly Column<Tenant>[] {
  const stateOf = ({ id }: Tenant) => live.value?.[`${kind}s`].find((tenant) => tenant.id === id);
  const { label, numeric = false, textOf, shownOf = textOf } = listed;
  return [
    { title: words.id, cell: ({ id }) => <a href={addressOf[kind](id)}>{id}</a> },
    { title: words.name, cell: ({ name }) => name },
    { title: words.status, cell: ({ status }) => status },
    { title: words.state, cell: (row) => stateOf(row)?.state ?? '–' },
    {
      title: words.p95,
      numeric: true,
      cell: (row) => {
        const { p95Ms = null } = stateOf(row) ?? {};
        return p95Ms === null ? '–' : `${p95Ms} ms`;
      },
    },
    PAUSE_COLUMN,
    { title: label, numeric, cell: shownOf },
  ];
}
