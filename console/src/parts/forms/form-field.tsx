import type {
  ComponentChildren,
  InputHTMLAttributes,
  PartialInputHTMLAttributes,
  SelectHTMLAttributes,
} from 'preact';
import { useId } from 'preact/hooks';
import { Problem } from '../../api/problem.ts';
import { time as words } from '../../strings.ts';
import { instantOf, LATEST } from './local-time.ts';

interface FieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  /** Why the value cannot be sent, shown instead of the hint; undefined if it can. */
  readonly wrong?: string | undefined;
}

interface Control {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': boolean;
}

interface LabelledProps extends FieldProps {
  /** @param control the attributes that tie the control to its label and hint */
  readonly children: (control: Control) => ComponentChildren;
}

/** A control of a form, with its label and its hint. */
export function Labelled({ label, hint, wrong, children }: LabelledProps) {
  const [id, noteId] = [useId(), useId()];
  const note = wrong ?? hint;
  const described = note === undefined ? undefined : noteId;
  return (
    <div class="field">
      <label for={id} class="form-label">
        {label}
      </label>
      {children({ id, 'aria-describedby': described, 'aria-invalid': wrong !== undefined })}
      {note !== undefined && (
        <div id={noteId} class={wrong === undefined ? 'form-text' : 'form-text alarm'}>
          {note}
        </div>
      )}
    </div>
  );
}

type InputProps = FieldProps & PartialInputHTMLAttributes<HTMLInputElement>;

/** A labelled input, with the attributes of an `input`. */
export function InputField({ label, hint, wrong, ...input }: InputProps) {
  const ofTime = input.type === 'datetime-local' && { max: LATEST, step: 1 };
  // The types of a JSX input allow different attributes, but each of these allows those that are used.
  const attributes = { ...ofTime, ...input } as InputHTMLAttributes;
  return (
    <Labelled label={label} hint={hint} wrong={wrong}>
      {(control) => (
        <input
          class="form-control form-control-sm"
          autoComplete="off"
          spellcheck={false}
          {...attributes}
          {...control}
        />
      )}
    </Labelled>
  );
}

type SelectProps = FieldProps & SelectHTMLAttributes;

/** A labelled select, with the attributes and the options of a `select`. */
export function SelectField({ label, hint, wrong, ...select }: SelectProps) {
  return (
    <Labelled label={label} hint={hint} wrong={wrong}>
      {(control) => <select class="form-select form-select-sm" {...select} {...control} />}
    </Labelled>
  );
}

/** The trimmed text of a form's field; empty if it has none. */
export function textIn(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value.trim() : '';
}

/** The text of a form's field of several lines, as one line: the API takes no line breaks. */
export function lineIn(form: FormData, name: string): string {
  return textIn(form, name).split(/\s+/).join(' ');
}

/** The text of a form's field of several lines. The API takes line feeds, but no other line breaks and no tabs. */
export function linesIn(form: FormData, name: string): string {
  return textIn(form, name)
    .replaceAll('\r\n', '\n')
    .replace(/[^\S\n]/g, ' ');
}

/**
 * The instant that a field of local time has; undefined if it is empty.
 * @throws Problem if it has another text
 */
export function instantIn(form: FormData, name: string): string | undefined {
  const text = textIn(form, name);
  if (text === '') return undefined;
  const instant = instantOf(text);
  if (instant === undefined) throw Problem.ofForm(words.invalid);
  return instant;
}
