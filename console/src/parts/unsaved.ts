import { type Signal, signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';

/** How many dialogs are open. While there are some, no answer changes the page: a dialog shows what it was opened for. */
export const dialogs = signal(0);
/** How many forms have input that was not sent. While there are some, events do not change the page. */
export const unsaved = signal(0);
/** Whether something that an event announced was read but is not shown because of these. */
export const outdated = signal(false);

/** Counts a form as long as it has input that was not sent. */
export function useUnsaved(has: boolean): void {
  useCounted(unsaved, has);
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
