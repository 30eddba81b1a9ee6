import { useLocation } from 'preact-iso';
import { answer, api } from '../../api/client.ts';
import { addressOf } from '../../parts/addresses.ts';
import { CsvButton } from '../../parts/csv-button.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { FormField, textIn } from '../../parts/form-field.tsx';
import { useResource, useTitle } from '../../parts/resource.ts';
import { providers as words, tenants } from '../../strings.ts';
import { NewTenant } from './secret.tsx';
import { columnsOf } from './tenant-list.tsx';

export default function Providers() {
  const { url, query } = useLocation();
  useTitle(words.title);
  const list = useResource(url, (signal) =>
    answer(api.GET('/v1/admin/providers', { params: { query }, signal })),
  );
  return (
    <>
      <h1 class="h4">{words.title}</h1>
      <div class="actions">
        <NewTenant
          label={words.create}
          sentence={words.willCreate}
          fields={
            <FormField
              name="webhookBaseUrl"
              label={words.webhookBaseUrl}
              required
              hint={tenants.addressHint}
            />
          }
          create={async (id, name, form) => {
            const body = { id, name, webhookBaseUrl: textIn(form, 'webhookBaseUrl') };
            return (await answer(api.POST('/v1/admin/providers', { body }))).secret;
          }}
          onDone={list.reload}
        />
        <CsvButton path="/v1/admin/providers" name="providers" />
      </div>
      <DataTable
        caption={words.title}
        list={list}
        keyOf={({ id }) => id}
        columns={[
          ...columnsOf(addressOf.provider),
          {
            title: words.lateSettlement,
            numeric: true,
            cell: ({ lateSettlementSeconds }) => tenants.seconds(lateSettlementSeconds),
          },
        ]}
      />
    </>
  );
}
