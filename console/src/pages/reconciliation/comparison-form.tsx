import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { useId } from 'preact/hooks';
import { Problem } from '../../api/problem.ts';
import { may } from '../../api/session.ts';
import { reconcile } from '../../api/statement.ts';
import type { Outcome } from '../../parts/actions/notice.tsx';
import { useAction } from '../../parts/actions/use-action.ts';
import { InputField, instantIn, textIn } from '../../parts/forms/form-field.tsx';
import { useEdited } from '../../parts/forms/unsaved.ts';
import { ProblemAlert } from '../../parts/reading/problem.tsx';
import { action, reconciliation as words } from '../../strings.ts';

/** Sends a statement, with its progress, and opens the page of the result. */
export function ComparisonForm() {
  const { route } = useLocation();
  const sent = useSignal(0);
  const { busy, problem, carryOut } = useAction(words.start);
  const edited = useEdited();
  const recordId = useId();
  const compare = async (form: FormData): Promise<Outcome> => {
    const [query, file] = [queryIn(form), form.get('statement')];
    if (!(file instanceof File) || file.name === '') throw Problem.ofForm(words.noFile);
    if (file.size === 0) throw Problem.ofForm(words.emptyFile);
    sent.value = 0;
    const { reconciliationId } = await reconcile(query, file, (share) => (sent.value = share));
    return { page: { title: words.one, address: `/console/reconciliation/${reconciliationId}` } };
  };
  const allowed = may('operations');
  return (
    <form
      class="edit mb-3"
      aria-label={words.start}
      onInput={() => (edited.value = true)}
      onSubmit={(event) => {
        event.preventDefault();
        const { currentTarget } = event;
        const form = new FormData(currentTarget);
        void carryOut(
          () => compare(form),
          (outcome) => outcome?.page && route(outcome.page.address),
          currentTarget,
        );
      }}
    >
      <h2 class="h5">{words.start}</h2>
      <InputField name="operatorId" label={words.operator} required />
      <InputField name="from" label={words.from} type="datetime-local" hint={words.localTime} required />
      <InputField name="to" label={words.to} type="datetime-local" hint={words.localTime} required />
      <InputField
        name="statement"
        label={words.drop}
        type="file"
        accept=".csv,text/csv"
        hint={words.dropHint}
        required
      />
      <div class="form-check mb-2">
        <input id={recordId} name="record" type="checkbox" class="form-check-input" value="true" />
        <label for={recordId} class="form-check-label">
          {words.record}
        </label>
        <div class="form-text">{words.recordHint}</div>
      </div>
      {problem.value && <ProblemAlert problem={problem.value} />}
      <button type="submit" class="btn btn-sm btn-primary" disabled={!allowed || busy.value}>
        {words.compare}
      </button>
      {!allowed && <span class="small text-body-secondary">{action.needsRole('operations')}</span>}
      {busy.value && <Progress share={sent.value} />}
    </form>
  );
}

function Progress({ share }: { readonly share: number }) {
  const text = share < 1 ? words.uploading(Math.floor(share * 100)) : words.comparing;
  return (
    <p role="status" class="mb-0 mt-2">
      <progress class="w-100" aria-label={text} value={share < 1 ? share : undefined} />
      {text}
    </p>
  );
}

function queryIn(form: FormData): Record<string, string> {
  const [operatorId, from, to] = [textIn(form, 'operatorId'), instantIn(form, 'from'), instantIn(form, 'to')];
  if (operatorId === '' || from === undefined || to === undefined) throw Problem.ofForm(words.needsRange);
  return { operatorId, from, to, record: String(form.get('record') === 'true') };
}
