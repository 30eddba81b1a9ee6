import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** How many forms and dialogs have input that was not sent. While there are some, events do not change the page. */
export const unsaved = signal(0);
/** Whether something was read that is not shown because of such input. */
export const outdated = signal(false);

/** Counts a form or dialog as long as it has such input. */
export function useUnsaved(has: boolean): void {
  useEffect(() => {
    if (!has) return;
    unsaved.value += 1;
    return () => {
      unsaved.value -= 1;
      if (unsaved.value === 0) outdated.value = false;
    };
  }, [has]);
}
