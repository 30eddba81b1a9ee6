import { type Signal, signal, useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { shell as words } from '../../strings.ts';

/** How many dialogs are open. While there are some, no answer changes the page: a dialog shows what it was opened for. */
export const dialogs = signal(0);
/** How many forms have input that was not sent. While there are some, events do not change the page. */
export const unsaved = signal(0);
/** Whether something that an event announced was read but is not shown because of these. */
export const outdated = signal(false);
/** Number of forms whose unsaved input an action under way has sent. A notice says how that ended. */
const sent = signal(0);

/** Counts a form as long as it has input that was not sent. */
export function useUnsaved(has: boolean): void {
  useCounted(unsaved, has);
}

/** Whether a form was edited since it was opened; counted like `useUnsaved`. The form sets it. */
export function useEdited(): Signal<boolean> {
  const edited = useSignal(false);
  useUnsaved(edited.value);
  return edited;
}

/** Counts a form as long as an action under way has sent its input. */
export function useSent(is: boolean): void {
  useCounted(sent, is);
}

/** Counts a dialog as long as it is open. */
export function useOpenDialog(): void {
  useCounted(dialogs, true);
}

function useCounted(count: Signal<number>, counts: boolean): void {
  // Before the browser paints: an answer could arrive between the first rendering and a later effect.
  useLayoutEffect(() => {
    if (!counts) return;
    count.value = count.peek() + 1;
    return () => {
      count.value = count.peek() - 1;
      if (dialogs.peek() + unsaved.peek() === 0) outdated.value = false;
    };
  }, [counts]);
}

/** Whether the page may be left for another one. Asks the person if input would be lost. */
export const mayLeave = () => unsaved.peek() <= sent.peek() || confirm(words.loseInput);

/** Asks before input that was not sent is lost by a link, by Back, or by a reload. Called once, by the shell. */
export function useLeaveGuard(): void {
  const { url } = useLocation();
  const current = useRef(url);
  current.current = url;
  // The layout effects of a child run before those of the router around it: these listeners are called before its own.
  useLayoutEffect(() => {
    const isElsewhere = ({ pathname, search }: Location | HTMLAnchorElement) =>
      pathname + search !== current.current;
    const onClick = (event: MouseEvent) => {
      const { button, ctrlKey, metaKey, shiftKey, altKey, target } = event;
      const link = (target as Element).closest<HTMLAnchorElement>('a[href]');
      const opensHere = link?.target === '' && button === 0 && !(ctrlKey || metaKey || shiftKey || altKey);
      if (!opensHere || !isElsewhere(link) || mayLeave()) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    const onBack = (event: PopStateEvent) => {
      if (!isElsewhere(location) || mayLeave()) return;
      event.stopImmediatePropagation();
      // The browser has changed the address already.
      history.pushState(null, '', current.current);
    };
    const onUnload = (event: BeforeUnloadEvent) => {
      if (unsaved.peek() > 0) event.preventDefault();
    };
    const ending = new AbortController();
    const { signal } = ending;
    addEventListener('click', onClick, { signal });
    addEventListener('popstate', onBack, { signal });
    addEventListener('beforeunload', onUnload, { signal });
    return () => ending.abort();
  }, []);
}
