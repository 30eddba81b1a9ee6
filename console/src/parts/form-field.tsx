import { useId } from 'preact/hooks';
import { Problem } from '../api/problem.ts';
import { amount, time as words } from '../strings.ts';
import { instantOf, LATEST } from './local-time.ts';

interface FormFieldProps {
  readonly name: string;
  readonly label: string;
  readonly value?: string;
  readonly hint?: string;
  readonly required?: boolean;
  readonly type?: 'text' | 'number' | 'datetime-local' | 'file';
  readonly accept?: string;
  /** The form is not submitted while the text is not a currency's code. */
  readonly currency?: boolean;
}

/** A labelled field of a form or dialog that is read by its name when the form is submitted. */
export function FormField({
  name,
  label,
  value,
  hint,
  required,
  type = 'text',
  accept,
  currency,
}: FormFieldProps) {
  const [id, hintId] = [useId(), useId()];
  const shared = {
    id,
    name,
    class: 'form-control form-control-sm',
    required,
    'aria-describedby': hintId,
  } as const;
  return (
    <div class="mb-2">
      <label for={id} class="form-label">
        {label}
      </label>
      {type === 'file' ? (
        <input {...shared} type="file" accept={accept} />
      ) : (
        <input
          {...shared}
          type={asText(type)}
          defaultValue={value}
          pattern={currency ? '[A-Za-z]{3}' : undefined}
          title={currency ? amount.invalidCurrency : undefined}
          maxLength={currency ? 3 : undefined}
          max={type === 'datetime-local' ? LATEST : undefined}
          step={type === 'datetime-local' ? 1 : undefined}
          autoComplete="off"
          spellcheck={false}
        />
      )}
      {hint !== undefined && (
        <div id={hintId} class="form-text">
          {hint}
        </div>
      )}
    </div>
  );
}

/** The types of a JSX input allow different attributes, but each of these allows those that are used here. */
const asText = (type: string) => type as 'text';

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
