import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { Problem } from '../../api/problem.ts';
import { Problem as FormProblem } from '../../api/problem.ts';
import { may } from '../../api/session.ts';
import { reconcile } from '../../api/statement.ts';
import { FormField, instantIn, textIn } from '../../parts/form-field.tsx';
import { ProblemAlert, problemOf } from '../../parts/problem.tsx';
import { action, reconciliation as words } from '../../strings.ts';

/** Sends a statement, with its progress, and opens the page of the result. */
export function ComparisonForm() {
  const { route } = useLocation();
  const sent = useSignal<number | undefined>(undefined);
  const problem = useSignal<Problem | undefined>(undefined);
  const ending = useRef(new AbortController());
  const recordId = useId();
  useEffect(() => () => ending.current.abort(), []);
  const compare = async (form: FormData) => {
    problem.value = undefined;
    try {
      const [query, file] = [queryIn(form), form.get('statement')];
      if (!(file instanceof File) || file.size === 0) throw FormProblem.ofForm(words.noFile);
      sent.value = 0;
      const report = await reconcile(query, file, (share) => (sent.value = share), ending.current.signal);
      route(`/console/reconciliation/${report.reconciliationId}`);
    } catch (error) {
      if (!ending.current.signal.aborted) problem.value = problemOf(error);
    }
    sent.value = undefined;
  };
  const allowed = may('operations');
  return (
    <form
      class="edit mb-3"
      aria-label={words.start}
      onSubmit={(event) => {
        event.preventDefault();
        if (sent.value === undefined) void compare(new FormData(event.currentTarget));
      }}
    >
      <h2 class="h5">{words.start}</h2>
      <FormField name="operatorId" label={words.operator} required />
      <FormField name="from" label={words.from} type="datetime-local" hint={words.localTime} required />
      <FormField name="to" label={words.to} type="datetime-local" hint={words.localTime} required />
      <FormField
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
      <button type="submit" class="btn btn-sm btn-primary" disabled={!allowed || sent.value !== undefined}>
        {words.compare}
      </button>
      {!allowed && <span class="small text-body-secondary">{action.needsRole('operations')}</span>}
      {sent.value !== undefined && <Progress share={sent.value} />}
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
  if (operatorId === '' || from === undefined || to === undefined) throw FormProblem.ofForm(words.needsRange);
  return { operatorId, from, to, record: String(form.get('record') === 'true') };
}
