import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Problem } from '../api/problem.ts';
import { beginAction } from '../api/session.ts';
import { announce, announceFailure, type Outcome, type PageLink } from './notice.tsx';
import { problemOf } from './problem.tsx';

interface Action {
  readonly busy: ReadonlySignal<boolean>;
  /** Why the last attempt failed. */
  readonly problem: ReadonlySignal<Problem | undefined>;
  /**
   * Carries the action out, unless it is under way, and says how it ended: on its page, or in a notice if the person has
   * left that.
   * @param onDone called once it was carried out, unless its page was left
   */
  readonly carryOut: (
    run: () => Promise<Outcome | undefined>,
    onDone?: (outcome: Outcome | undefined) => void,
  ) => Promise<void>;
}

/** @param label says in the notice what was done */
export function useAction(label: string): Action {
  const busy = useSignal(false);
  const problem = useSignal<Problem | undefined>(undefined);
  const leftSince = useLeft();
  const carryOut: Action['carryOut'] = async (run, onDone) => {
    if (busy.value) return;
    busy.value = true;
    problem.value = undefined;
    const left = leftSince();
    const end = beginAction();
    try {
      const outcome = await run();
      announce(label, outcome, left());
      // What follows, such as another page, is no longer what the person waits for.
      if (!left()) onDone?.(outcome);
    } catch (error) {
      problem.value = problemOf(error);
      const origin = left();
      if (origin) announceFailure(label, problem.value.message, origin);
    } finally {
      end();
      busy.value = false;
    }
  };
  return { busy, problem, carryOut };
}

/**
 * Tells whether the person leaves the page, as with the browser's Back, while an action is carried out.
 * @returns a function to call when it starts; that returns a function with the page that was left, or undefined
 */
function useLeft(): () => () => PageLink | undefined {
  const unmounted = useRef(false);
  useEffect(() => () => void (unmounted.current = true), []);
  return () => {
    const { pathname, search } = location;
    const origin = { title: document.title, address: pathname + search };
    // While the module of the next page is loaded, this one is still shown.
    return () => (unmounted.current || location.pathname !== pathname ? origin : undefined);
  };
}
