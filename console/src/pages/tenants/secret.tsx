import { signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { answer, api } from '../../api/client.ts';
import { me } from '../../api/session.ts';
import { ActionButton } from '../../parts/actions/action.tsx';
import { InputField, textIn } from '../../parts/forms/form-field.tsx';
import { problemOf } from '../../parts/reading/problem.tsx';
import { TimeAndLeft } from '../../parts/values/time.tsx';
import { secrets as words } from '../../strings.ts';

interface NewSecret {
  readonly kind: 'operator' | 'provider';
  readonly id: string;
  readonly secret: string;
  readonly previousValidUntil?: string;
}

/**
 * The newest of each tenant, until it is dismissed: the service never shows it again, and the page may be left before it
 * arrives.
 */
const kept = signal<readonly NewSecret[]>([]);
// The next person in this tab must not see them.
me.subscribe(() => (kept.value = []));

function forget({ kind, id }: Pick<NewSecret, 'kind' | 'id'>): void {
  kept.value = kept.peek().filter((each) => each.kind !== kind || each.id !== id);
}

function keep(secret: NewSecret): void {
  forget(secret);
  kept.value = [...kept.peek(), secret];
}

interface NewSecretsProps {
  readonly kind: NewSecret['kind'];
  /** The tenant whose page this is; undefined on the page of all. */
  readonly id?: string;
}

function NewSecrets({ kind, id }: NewSecretsProps) {
  const shown = kept.value.filter((each) => each.kind === kind && each.id === (id ?? each.id));
  return shown.map((each) => <ShownSecret key={each.secret} of={each} />);
}

function ShownSecret({ of }: { readonly of: NewSecret }) {
  const { id, secret, previousValidUntil } = of;
  const copied = useSignal<string | undefined>(undefined);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(secret);
      copied.value = words.copied;
    } catch {
      // The browser does not allow it, or has no clipboard for pages without HTTPS.
      copied.value = words.notCopied;
    }
  };
  return (
    <div class="alert alert-info">
      <div role="status">
        <p class="mb-1">{words.once(id)}</p>
        <p class="mb-1">
          <code class="secret">{secret}</code>
        </p>
      </div>
      <p class="mb-1">
        <button type="button" class="btn btn-sm btn-outline-secondary" onClick={() => void copy()}>
          {words.copy}
        </button>{' '}
        <button type="button" class="btn btn-sm btn-outline-secondary" onClick={() => forget(of)}>
          {words.dismiss}
        </button>{' '}
        <span role="status">{copied.value}</span>
      </p>
      {previousValidUntil !== undefined && (
        <p class="mb-0">
          {words.overlap} <TimeAndLeft until={previousValidUntil} />
        </p>
      )}
    </div>
  );
}

/** Replaces the secret. Both are valid during the overlap, so that no call of the other side is refused. */
export function RotateSecret({ kind, id }: Required<NewSecretsProps>) {
  return (
    <>
      <ActionButton
        label={words.rotate}
        role="admin"
        danger
        sentence={words.willRotate(kind, id)}
        fields={
          <InputField
            name="overlapSeconds"
            label={words.overlapSeconds}
            type="number"
            hint={words.overlapHint}
          />
        }
        run={async (form) => {
          const text = textIn(form, 'overlapSeconds');
          const body = { overlapSeconds: text === '' ? null : Number(text) };
          const params = { path: { id } };
          const call = api.POST(`/v1/admin/${kind}s/{id}/secret/rotate`, { params, body });
          const rotated = await answer(call).catch((error: unknown) =>
            failed(error, body.overlapSeconds === 0),
          );
          keep({ kind, id, ...rotated });
        }}
      />
      <NewSecrets kind={kind} id={id} />
    </>
  );
}

/**
 * The rotation may have been committed. Another one would drop the secret that the tenant uses, unless there was no
 * overlap.
 */
function failed(error: unknown, atOnce: boolean): never {
  const problem = problemOf(error);
  if (problem.isRefusal) throw problem;
  throw problem.advised(atOnce ? words.rotationAtOnceUnknown : words.rotationUnknown);
}

interface NewTenantProps {
  readonly kind: NewSecret['kind'];
  readonly label: string;
  readonly sentence: string;
  readonly fields: ComponentChildren;
  /** @returns the secret of the new operator or provider */
  readonly create: (id: string, name: string, form: FormData) => Promise<string>;
  readonly onDone: () => void;
}

/** Creates an operator or a provider, and shows its secret. */
export function NewTenant({ kind, label, sentence, fields, create, onDone }: NewTenantProps) {
  return (
    <>
      <ActionButton
        label={label}
        role="admin"
        sentence={sentence}
        fields={
          <>
            <InputField name="id" label={words.id} required hint={words.idHint} />
            <InputField name="name" label={words.name} required />
            {fields}
          </>
        }
        run={async (form) => {
          const id = textIn(form, 'id');
          keep({ kind, id, secret: await create(id, textIn(form, 'name'), form) });
        }}
        onDone={onDone}
      />
      <NewSecrets kind={kind} />
    </>
  );
}
