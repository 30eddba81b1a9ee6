import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { answer, api } from '../../api/client.ts';
import { ActionButton } from '../../parts/action.tsx';
import { FormField, textIn } from '../../parts/form-field.tsx';
import { Left, Time } from '../../parts/time.tsx';
import { secrets as words } from '../../strings.ts';

interface Shown {
  readonly of: string;
  readonly secret: string;
  readonly previousValidUntil?: string;
}

/** A secret, shown until the page is left: the service never shows it again. */
function ShownOnce({ of, secret, previousValidUntil }: Shown) {
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
        <p class="mb-1">{words.once(of)}</p>
        <p class="mb-1">
          <code class="secret">{secret}</code>
        </p>
      </div>
      <p class="mb-1">
        <button type="button" class="btn btn-sm btn-outline-secondary" onClick={() => void copy()}>
          {words.copy}
        </button>{' '}
        <span role="status">{copied.value}</span>
      </p>
      {previousValidUntil !== undefined && (
        <p class="mb-0">
          {words.overlap} <Time at={previousValidUntil} /> (<Left until={previousValidUntil} />)
        </p>
      )}
    </div>
  );
}

interface RotateSecretProps {
  readonly kind: 'operator' | 'provider';
  readonly id: string;
}

/** Replaces the secret. Both are valid during the overlap, so that no call of the other side is refused. */
export function RotateSecret({ kind, id }: RotateSecretProps) {
  const shown = useSignal<Shown | undefined>(undefined);
  return (
    <>
      <ActionButton
        label={words.rotate}
        role="admin"
        danger
        sentence={words.willRotate(kind, id)}
        fields={
          <FormField
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
          const rotated = await answer(
            kind === 'operator'
              ? api.POST('/v1/admin/operators/{id}/secret/rotate', { params, body })
              : api.POST('/v1/admin/providers/{id}/secret/rotate', { params, body }),
          );
          shown.value = { of: id, ...rotated };
          return undefined;
        }}
      />
      {shown.value && <ShownOnce key={shown.value.secret} {...shown.value} />}
    </>
  );
}

interface NewTenantProps {
  readonly label: string;
  readonly sentence: string;
  readonly fields: ComponentChildren;
  /** @returns the secret of the new operator or provider */
  readonly create: (id: string, name: string, form: FormData) => Promise<string>;
  readonly onDone: () => void;
}

/** Creates an operator or a provider, and shows its secret. */
export function NewTenant({ label, sentence, fields, create, onDone }: NewTenantProps) {
  const shown = useSignal<Shown | undefined>(undefined);
  return (
    <>
      <ActionButton
        label={label}
        role="admin"
        sentence={sentence}
        fields={
          <>
            <FormField name="id" label={words.id} required hint={words.idHint} />
            <FormField name="name" label={words.name} required />
            {fields}
          </>
        }
        run={async (form) => {
          const id = textIn(form, 'id');
          shown.value = { of: id, secret: await create(id, textIn(form, 'name'), form) };
          return undefined;
        }}
        onDone={onDone}
      />
      {shown.value && <ShownOnce key={shown.value.secret} {...shown.value} />}
    </>
  );
}
