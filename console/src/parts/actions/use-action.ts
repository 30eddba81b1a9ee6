import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Problem } from '../../api/problem.ts';
import { beginAction } from '../../api/session.ts';
import { action as words } from '../../strings.ts';
import { useSent } from '../forms/unsaved.ts';
import { problemOf } from '../reading/problem.tsx';
import { announce, announceFailure, type Outcome, type PageLink } from './notice.tsx';

/** Wait for the end of an action after which the person may leave it, in milliseconds: a callback takes up to 10 s. */
const SLOW_MS = 20_000;

export interface Action {
  readonly busy: ReadonlySignal<boolean>;
  /** Whether it has been under way for so long that the person may leave it. */
  readonly slow: ReadonlySignal<boolean>;
  /** Why the last attempt failed. */
  readonly problem: ReadonlySignal<Problem | undefined>;
  /** Forgets why the last attempt failed. */
  readonly forgetProblem: () => void;
  /**
   * Carries the action out, unless it is under way, and says how it ended: on its page, or in a notice if the person has
   * left that.
   * @param onDone called once it was carried out, unless its page was left. It gets the outcome, unless the dialog was left
   * @param form the form of the page whose input it sends, if any
   */
  readonly carryOut: (
    run: () => Promise<Outcome | undefined>,
    onDone?: (outcome: Outcome | undefined) => void,
    form?: HTMLFormElement | null,
  ) => Promise<void>;
}

/**
 * @param label says in the notice what was done
 * @param shown whether `problem` is shown; a failure that is not shown becomes a notice
 * @param ifUnknown says what to do if the service has not said how the action ended
 */
export function useAction(
  label: string,
  shown?: ReadonlySignal<boolean>,
  ifUnknown: string = words.outcomeUnknown,
): Action {
  const busy = useSignal(false);
  const slow = useSignal(false);
  const problem = useSignal<Problem | undefined>(undefined);
  const watchLeaving = useLeaving(shown);
  const sending = useSignal(false);
  useSent(sending.value);
  const carryOut: Action['carryOut'] = async (run, onDone, form) => {
    if (busy.value) return;
    busy.value = true;
    if (form) {
      sending.value = true;
      // What is typed from now on is not sent.
      form.addEventListener('input', () => (sending.value = false), { once: true });
    }
    problem.value = undefined;
    const { origin, left } = watchLeaving();
    const end = beginAction();
    const timer = setTimeout(() => (slow.value = true), SLOW_MS);
    try {
      const outcome = await run();
      announce(label, outcome, left() && origin);
      // If only the dialog was left, the page is read again, but the page of the outcome is not opened.
      if (left() !== 'page') onDone?.(left() ? undefined : outcome);
    } catch (error) {
      const failure = problemOf(error);
      const advice = failure.advice ?? (failure.outcomeUnknown ? ifUnknown : undefined);
      if (left()) announceFailure(label, [failure.message, advice].filter(Boolean).join(' '), origin);
      else problem.value = advice === undefined ? failure : failure.advised(advice);
    } finally {
      end();
      clearTimeout(timer);
      slow.value = false;
      sending.value = false;
      busy.value = false;
    }
  };
  return { busy, slow, problem, forgetProblem: () => (problem.value = undefined), carryOut };
}

/**
 * Tells what the person leaves while an action is carried out: the page, as with the browser's Back, or only the dialog.
 * @returns a function to call when the action starts. It returns the page, and `left`, which says what was left since.
 */
function useLeaving(shown: ReadonlySignal<boolean> | undefined) {
  const unmounted = useRef(false);
  useEffect(() => () => void (unmounted.current = true), []);
  return () => {
    const { pathname, search } = location;
    const origin: PageLink = { title: document.title, address: pathname + search };
    const left = () => {
      // While the module of the next page is loaded, this one is still shown.
      if (unmounted.current || location.pathname !== pathname) return 'page';
      return shown?.peek() === false ? 'dialog' : undefined;
    };
    return { origin, left };
  };
}
