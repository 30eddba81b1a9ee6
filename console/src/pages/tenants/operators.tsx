import { useLocation } from 'preact-iso';
import { answer, api } from '../../api/client.ts';
import { addressOf } from '../../parts/addresses.ts';
import { CsvButton } from '../../parts/csv-button.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { FormField, textIn } from '../../parts/form-field.tsx';
import { useResource, useTitle } from '../../parts/resource.ts';
import { operators as words, tenants } from '../../strings.ts';
import { NewTenant } from './secret.tsx';
import { columnsOf } from './tenant-list.tsx';

export default function Operators() {
  const { url, query } = useLocation();
  useTitle(words.title);
  const list = useResource(url, (signal) =>
    answer(api.GET('/v1/admin/operators', { params: { query }, signal })),
  );
  return (
    <>
      <h1 class="h4">{words.title}</h1>
      <div class="actions">
        <NewTenant
          label={words.create}
          sentence={words.willCreate}
          fields={
            <FormField name="walletBaseUrl" label={words.walletBaseUrl} required hint={tenants.addressHint} />
          }
          create={async (id, name, form) => {
            const body = { id, name, walletBaseUrl: textIn(form, 'walletBaseUrl') };
            return (await answer(api.POST('/v1/admin/operators', { body }))).secret;
          }}
          onDone={list.reload}
        />
        <CsvButton path="/v1/admin/operators" name="operators" />
      </div>
      <DataTable
        caption={words.title}
        list={list}
        keyOf={({ id }) => id}
        columns={[
          ...columnsOf(addressOf.operator),
          { title: words.currencies, cell: ({ currencies }) => currencies?.join(' ') ?? words.anyCurrency },
        ]}
      />
    </>
  );
}
