import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { untilTimeout } from '../../api/client.ts';
import type { Problem } from '../../api/problem.ts';
import type { Schema } from '../../api/schemas.ts';
import { ProblemAlert, problemOf } from '../../parts/reading/problem.tsx';
import { waitMsAfter } from '../../parts/reading/resource.ts';
import { moneyText } from '../../parts/values/money.tsx';
import { stakeText } from '../../parts/values/stake.tsx';
import { freeSpins as words } from '../../strings.ts';

type PreviewData = Schema<'PreviewResponse'>;

/** Pause in typing after which the service is asked, in milliseconds. */
const PAUSE_MS = 300;

interface PreviewResource {
  /** Undefined while the preview of what is in the form is not there. */
  readonly data: ReadonlySignal<PreviewData | undefined>;
  readonly problem: ReadonlySignal<Problem | undefined>;
  /** Asks again at once. */
  readonly retry: () => void;
}

/** @param key everything that the preview depends on; undefined while there is nothing to preview */
export function usePreview(
  key: string | undefined,
  read: (signal: AbortSignal) => Promise<PreviewData>,
): PreviewResource {
  const data = useSignal<PreviewData | undefined>(undefined);
  const problem = useSignal<Problem | undefined>(undefined);
  const turn = useSignal(0);
  const latest = useRef(read);
  latest.current = read;
  useEffect(() => {
    data.value = undefined;
    problem.value = undefined;
    if (key === undefined) return;
    const ending = new AbortController();
    const ask = async (failures: number) => {
      try {
        const answered = await latest.current(untilTimeout(ending.signal));
        if (ending.signal.aborted) return;
        data.value = answered;
        problem.value = undefined;
      } catch (error) {
        if (ending.signal.aborted) return;
        problem.value = problemOf(error);
        if (problem.value.passes) timer = setTimeout(() => void ask(failures + 1), waitMsAfter(failures));
      }
    };
    let timer = setTimeout(() => void ask(0), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [key, turn.value]);
  return { data, problem, retry: () => (turn.value += 1) };
}

interface PreviewProps {
  readonly of: PreviewResource;
  /** When the spins expire, as a sentence. */
  readonly expiry: string;
}

export function Preview({ of: { data, problem, retry }, expiry }: PreviewProps) {
  const shown = data.value;
  return (
    <section class="border rounded p-2 mb-2" aria-label={words.preview} role="status">
      <h2 class="h6">{words.preview}</h2>
      {problem.value && <ProblemAlert problem={problem.value} retry={retry} retries={problem.value.passes} />}
      {!shown && !problem.value && <p class="mb-0 text-body-secondary">{words.previewLater}</p>}
      {shown && (
        <>
          <p class="mb-1 fs-5">{stakeText(shown.stakeMinor, shown.currency)}</p>
          <p class="mb-1">
            {words.previewOf(shown.players, shown.spins)}. {expiry}
          </p>
          <p class="mb-0 fw-semibold">
            {shown.requires === 'approval' ? words.needsApproval : words.needsNoApproval}
          </p>
          {shown.limit && (
            <p class="mb-0">
              {words.limit(
                shown.limit.name,
                moneyText(shown.limit.limitMinor, shown.currency),
                moneyText(shown.limit.usedMinor, shown.currency),
              )}
            </p>
          )}
          {!shown.limitsSet && <p class="mb-0 alarm">{words.noLimits(shown.currency)}</p>}
        </>
      )}
    </section>
  );
}
