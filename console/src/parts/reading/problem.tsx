import { Problem } from '../../api/problem.ts';
import { problems as words } from '../../strings.ts';

interface ProblemAlertProps {
  readonly problem: Problem;
  /** Shows a button that tries again, unless the same request would be refused again. */
  readonly retry?: (() => void) | undefined;
  /** Whether the console tries again by itself. */
  readonly retries?: boolean;
}

/** The service's own sentence, what to do next, and the request's id. */
export function ProblemAlert({ problem, retry, retries = false }: ProblemAlertProps) {
  const next = retries ? words.retrying : (problem.advice ?? words.next[problem.nextAction ?? '']);
  return (
    <div role="alert" class="alert alert-danger">
      <p class="mb-0 fw-semibold">{problem.message}</p>
      {next && <p class="mb-0">{next}</p>}
      {problem.requestId && <p class="mb-0 small">{words.request(problem.requestId)}</p>}
      {retry && problem.nextAction !== 'fix-request' && (
        <button type="button" class="btn btn-sm btn-outline-danger mt-2" onClick={retry}>
          {words.tryAgain}
        </button>
      )}
    </div>
  );
}

/** A call's failure as a problem; everything else is a defect of the console, and is thrown on. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  throw error;
}
