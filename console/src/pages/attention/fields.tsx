import { useRef } from 'preact/hooks';
import { me } from '../../api/session.ts';
import { InputField, Labelled } from '../../parts/forms/form-field.tsx';
import { localOf } from '../../parts/forms/local-time.ts';
import { attention as words } from '../../strings.ts';

/** Proposed length of a snooze, in milliseconds. */
const SNOOZE_MS = 60 * 60_000;

/** The field `assignee`, which proposes the person who is signed in. */
export function AssigneeField() {
  return (
    <InputField
      name="assignee"
      label={words.assignee}
      defaultValue={me.value?.name ?? ''}
      hint={words.assigneeHint}
    />
  );
}

/** The field `until`. */
export function UntilField() {
  const proposed = useRef(localOf(new Date(Date.now() + SNOOZE_MS).toISOString()));
  return (
    <InputField
      name="until"
      label={words.until}
      type="datetime-local"
      defaultValue={proposed.current}
      required
    />
  );
}

/** The field `text` of a comment. */
export function CommentField() {
  return (
    <Labelled label={words.comment}>
      {(control) => (
        <textarea {...control} name="text" class="form-control" rows={3} maxLength={2_000} required />
      )}
    </Labelled>
  );
}
