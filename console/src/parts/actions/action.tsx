import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';
import { may, type Role } from '../../api/session.ts';
import { action as words } from '../../strings.ts';
import { Labelled, lineIn } from '../forms/form-field.tsx';
import { useEdited, useOpenDialog, useSent } from '../forms/unsaved.ts';
import { focusContent } from '../links/page.ts';
import { ProblemAlert } from '../reading/problem.tsx';
import type { Outcome } from './notice.tsx';
import { type Action, useAction } from './use-action.ts';

/** Longest reason that the API takes, in characters. */
const LONGEST_REASON = 500;

export interface ActionProps {
  /** Says what the action does, such as `Pause the operator`. The dialog's button says the same. */
  readonly label: string;
  /** The role that the route needs. Without it, the button is disabled and names the role. */
  readonly role: Role;
  /** What will happen, in a sentence, with the money. */
  readonly sentence: ComponentChildren;
  /** Whether the API takes a reason. */
  readonly reason?: 'required' | 'optional';
  /** What the field for the reason has at first. */
  readonly suggestedReason?: string | undefined;
  /** More fields of the dialog's form; `run` gets their values by name. */
  readonly fields?: ComponentChildren;
  readonly danger?: boolean;
  /** Why the action is not possible now, if it is not: shown beside the disabled button. */
  readonly impossible?: string | undefined;
  /** What to do if the service has not said how the action ended. By default, to look before it is repeated. */
  readonly ifUnknown?: string;
  /** Carries the action out; a Problem that it throws is shown in the dialog, and the form stays as it is. */
  readonly run: (form: FormData, reason: string) => Promise<Outcome | undefined>;
  /**
   * Called once it was carried out, to reload the page's resource, or to open the page of the outcome. It gets no outcome if
   * the dialog was left.
   */
  readonly onDone?: (outcome: Outcome | undefined) => void;
}

/** A button that opens a dialog, in which the action is confirmed. */
export function ActionButton(props: ActionProps) {
  const open = useSignal(false);
  const { label, role, danger, impossible, ifUnknown } = props;
  const action = useAction(label, open, ifUnknown);
  // The dialog was left before the end: another one would send the action a second time.
  const left = action.busy.value && !open.value ? words.underWay : undefined;
  return (
    <>
      <HintedButton
        label={label}
        style={danger ? 'btn-outline-danger' : 'btn-outline-primary'}
        obstacle={may(role) ? (left ?? impossible) : words.needsRole(role)}
        onClick={() => (open.value = true)}
      />
      {open.value && <ConfirmDialog {...props} action={action} onClose={() => (open.value = false)} />}
    </>
  );
}

interface HintedButtonProps {
  readonly label: string;
  /** Bootstrap's class. */
  readonly style: string;
  /** Why the button is disabled, shown beside it; undefined if it is not. */
  readonly obstacle: string | undefined;
  readonly onClick?: () => void;
}

/** A button that is disabled, and says why, if there is an obstacle. */
export function HintedButton({ label, style, obstacle, onClick }: HintedButtonProps) {
  const hint = useId();
  const button = useRef<HTMLButtonElement>(null);
  // An action may disable or remove its own button, which gets the focus back from the dialog: it would then be lost.
  useLayoutEffect(() => {
    const own = button.current;
    return () => {
      if (document.activeElement === own) focusContent();
    };
  }, [obstacle]);
  return (
    <span class="action">
      <button
        ref={button}
        type="button"
        class={`btn btn-sm ${style}`}
        disabled={obstacle !== undefined}
        title={obstacle}
        aria-describedby={obstacle === undefined ? undefined : hint}
        onClick={onClick}
      >
        {label}
      </button>
      {obstacle !== undefined && (
        <span id={hint} class="small text-body-secondary">
          {obstacle}
        </span>
      )}
    </span>
  );
}

/** A modal dialog that says what will happen, takes the reason, and shows the service's refusal, if it refuses. */
function ConfirmDialog(props: ActionProps & { readonly action: Action; readonly onClose: () => void }) {
  const { label, sentence, reason, suggestedReason, fields, danger, run, onDone, onClose } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const [title, sentenceId] = [useId(), useId()];
  const { busy, slow, problem, forgetProblem, carryOut } = props.action;
  const edited = useEdited();
  useOpenDialog();
  useSent(edited.value && busy.value);
  useEffect(() => forgetProblem, []);
  useEffect(() => dialog.current?.showModal(), []);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const send = async () => {
      const outcome = await run(form, lineIn(form, 'reason'));
      dialog.current?.close();
      return outcome;
    };
    // If the action sends a form of the page, its button is inside that form.
    await carryOut(send, onDone, dialog.current?.closest('form'));
  };
  // The person sees the outcome here, unless it takes too long.
  const stays = () => busy.value && !slow.value;
  const cancel = (event: Event) => {
    if (stays()) event.preventDefault();
  };
  // Chromium closes a dialog at a second Escape even if the first was prevented.
  const close = () => (stays() ? dialog.current?.showModal() : onClose());
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={title}
      aria-describedby={sentenceId}
      onCancel={cancel}
      onClose={close}
    >
      <form onInput={() => (edited.value = true)} onSubmit={(event) => void submit(event)}>
        <h2 id={title} class="h5">
          {label}
        </h2>
        <p id={sentenceId}>{sentence}</p>
        {fields}
        {reason && (
          <Labelled label={words.reason}>
            {(control) => (
              <textarea
                {...control}
                // A newly suggested reason replaces what was typed.
                key={suggestedReason}
                name="reason"
                class="form-control"
                rows={2}
                maxLength={LONGEST_REASON}
                required={reason === 'required'}
                defaultValue={suggestedReason}
              />
            )}
          </Labelled>
        )}
        {problem.value && <ProblemAlert problem={problem.value} />}
        <p role="status" class="mb-0">
          {slow.value && words.slow}
        </p>
        <div class="d-flex justify-content-end gap-2">
          <button
            type="button"
            class="btn btn-outline-secondary"
            disabled={stays()}
            onClick={() => dialog.current?.close()}
          >
            {words.back}
          </button>
          <button type="submit" class={`btn ${danger ? 'btn-danger' : 'btn-primary'}`} disabled={busy.value}>
            {busy.value ? words.busy : label}
          </button>
        </div>
      </form>
    </dialog>
  );
}
