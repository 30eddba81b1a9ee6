import { useId, useRef } from 'preact/hooks';
import { me } from '../../api/session.ts';
import { FormField } from '../../parts/form-field.tsx';
import { localOf } from '../../parts/local-time.ts';
import { attention as words } from '../../strings.ts';

/** Proposed length of a snooze, in milliseconds. */
const SNOOZE_MS = 60 * 60_000;

/** The field `assignee`, which proposes the person who is signed in. */
export function AssigneeField() {
  return (
    <FormField
      name="assignee"
      label={words.assignee}
      value={me.value?.name ?? ''}
      hint={words.assigneeHint}
    />
  );
}

/** The field `until`. */
export function UntilField() {
  const proposed = useRef(localOf(new Date(Date.now() + SNOOZE_MS).toISOString()));
  return (
    <FormField name="until" label={words.until} type="datetime-local" value={proposed.current} required />
  );
}

/** The field `text` of a comment. */
export function CommentField() {
  const id = useId();
  return (
    <div class="mb-3">
      <label for={id} class="form-label">
        {words.comment}
      </label>
      <textarea id={id} name="text" class="form-control" rows={3} maxLength={2_000} required />
    </div>
  );
}
