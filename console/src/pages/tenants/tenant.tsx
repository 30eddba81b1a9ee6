import { answer, api } from '../../api/client.ts';
import { EditForm } from '../../parts/actions/edit-form.tsx';
import { Pausing } from '../../parts/actions/pausing.tsx';
import { isMissing, Missing } from '../../parts/frame/missing.tsx';
import { addressOf } from '../../parts/links/addresses.ts';
import { useTitle } from '../../parts/links/page.ts';
import { Loaded } from '../../parts/reading/loaded.tsx';
import { useResource, WITH_OVERVIEW } from '../../parts/reading/resource.ts';
import { Details } from '../../parts/values/details.tsx';
import { Time } from '../../parts/values/time.tsx';
import { tenants as words } from '../../strings.ts';
import { Health } from './health.tsx';
import { RotateSecret } from './secret.tsx';
import { fieldsOf, type Listed, type TenantKind } from './tenant-kind.ts';

interface TenantPageProps<Tenant extends Listed> {
  readonly of: TenantKind<Tenant>;
  readonly id: string;
}

/** The page of an operator or a provider. */
export function TenantPage<Tenant extends Listed>({ of, id }: TenantPageProps<Tenant>) {
  const title = of.words.one(id);
  useTitle(title);
  const tenant = useResource(`${of.kind} ${id}`, (signal) => of.read(id, signal), WITH_OVERVIEW);
  if (isMissing(tenant)) return <Missing kind={of.kind} />;
  return (
    <>
      <h1 class="h4">{title}</h1>
      <Loaded of={tenant}>
        {(data) => (
          <>
            <Pausing kind={of.kind} id={id} pause={data.pause} onDone={tenant.reload} />
            <Health kind={of.kind} id={id} />
            <Details
              items={[
                ...fieldsOf(of).map(({ label, textOf, shownOf = textOf }) => [label, shownOf(data)] as const),
                [words.created, <Time at={data.createdAt} />],
                [words.updated, <Time at={data.updatedAt} />],
                [words.more, <More kind={of.kind} id={id} />],
              ]}
            />
            <Changes of={of} tenant={data} onDone={tenant.reload} />
            <RotateSecret kind={of.kind} id={id} />
          </>
        )}
      </Loaded>
    </>
  );
}

function More({ kind, id }: { readonly kind: 'operator' | 'provider'; readonly id: string }) {
  return (
    <span class="d-flex flex-wrap row-gap-1 column-gap-3">
      <a href={addressOf.list('transactions', { [`${kind}Id`]: id })}>{words.transactions}</a>
      {kind === 'operator' && <a href={addressOf.list('limits')}>{words.limits}</a>}
      <a href={addressOf.list('audit', { target: `${kind}:${id}` })}>{words.audit}</a>
    </span>
  );
}

interface ChangesProps<Tenant extends Listed> {
  readonly of: TenantKind<Tenant>;
  readonly tenant: Tenant;
  readonly onDone: () => void;
}

function Changes<Tenant extends Listed>({ of, tenant, onDone }: ChangesProps<Tenant>) {
  const fields = fieldsOf(of);
  return (
    <EditForm
      label={of.words.change}
      role="admin"
      fields={fields.map((field) => ({ ...field, value: field.textOf(tenant) }))}
      run={async (changes) => {
        const sent = fields.flatMap(({ name, sent: sentOf = (text: string): unknown => text }) => {
          const text = changes[name];
          return text === undefined ? [] : [[name, sentOf(text)] as const];
        });
        const params = { path: { id: tenant.id } };
        const body = Object.fromEntries(sent);
        await answer(api.PATCH(`/v1/admin/${of.kind}s/{id}`, { params, body }));
      }}
      onDone={onDone}
    />
  );
}
