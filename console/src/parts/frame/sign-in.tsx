import { useSignal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';
import { loadOidc } from '../../api/load-oidc.ts';
import { Problem } from '../../api/problem.ts';
import { ended } from '../../api/session.ts';
import { type Issuer, type Settings, signIn } from '../../api/sign-in.ts';
import { shell, signIn as words } from '../../strings.ts';
import { useTitle } from '../links/page.ts';
import { ProblemAlert, problemOf } from '../reading/problem.tsx';

export function SignIn({ settings }: { readonly settings: Settings | undefined }) {
  useTitle(words.title);
  const [keyId, keepId, hintId] = [useId(), useId(), useId()];
  const field = useRef<HTMLInputElement>(null);
  const keep = useRef<HTMLInputElement>(null);
  const busy = useSignal(false);
  const problem = useSignal<Problem | undefined>(undefined);
  useEffect(() => field.current?.focus(), []);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const key = field.current?.value.trim() ?? '';
    if (busy.value || key === '') return;
    busy.value = true;
    problem.value = undefined;
    try {
      await signIn(key, keep.current?.checked ?? false);
    } catch (error) {
      const failure = problemOf(error);
      // The general advice for a 401, to correct the request, does not fit a key.
      problem.value = failure.code === 'UNAUTHORIZED' ? Problem.ofForm(failure.message) : failure;
      field.current?.select();
    }
    busy.value = false;
  };
  const leave = async (issuer: Issuer) => {
    busy.value = true;
    problem.value = undefined;
    try {
      const { leaveForIssuer } = await loadOidc();
      await leaveForIssuer(issuer, keep.current?.checked ?? false);
    } catch (error) {
      problem.value = problemOf(error);
    }
    // Also while the browser leaves: Back may restore the page as it is then.
    busy.value = false;
  };
  return (
    <main class="sign-in">
      <h1 class="h4">{words.lead}</h1>
      {settings && (
        <p class="text-body-secondary">
          {shell.environment[settings.environment]} · {shell.version(settings.version)}
        </p>
      )}
      {ended.value && !problem.value && (
        <p role="status" class="alert alert-info">
          {ended.value}
        </p>
      )}
      {problem.value && <ProblemAlert problem={problem.value} />}
      <form onSubmit={(event) => void submit(event)}>
        <label for={keyId} class="form-label">
          {words.key}
        </label>
        <input
          ref={field}
          id={keyId}
          class="form-control"
          type="password"
          autoComplete="off"
          required
          spellcheck={false}
        />
        <div class="form-check my-3">
          <input ref={keep} id={keepId} class="form-check-input" type="checkbox" aria-describedby={hintId} />
          <label for={keepId} class="form-check-label">
            {words.keep}
          </label>
          <div id={hintId} class="form-text">
            {words.keepHint}
          </div>
        </div>
        <button type="submit" class="btn btn-primary" disabled={busy.value}>
          {words.submit}
        </button>
        {settings?.issuer && (
          <button
            type="button"
            class="btn btn-outline-primary ms-2"
            disabled={busy.value}
            onClick={() => void leave(settings.issuer!)}
          >
            {words.atIssuer(new URL(settings.issuer.url).host)}
          </button>
        )}
      </form>
    </main>
  );
}
