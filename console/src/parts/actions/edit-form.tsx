import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Role } from '../../api/session.ts';
import { edit as words } from '../../strings.ts';
import { InputField, SelectField } from '../forms/form-field.tsx';
import { useUnsaved } from '../forms/unsaved.ts';
import { ActionButton } from './action.tsx';
import type { Outcome } from './notice.tsx';

export interface EditField {
  /** The field's name in the API. */
  readonly name: string;
  readonly label: string;
  /** The current value as text; empty if there is none. */
  readonly value: string;
  readonly options?: readonly string[];
  readonly hint?: string;
  /** Shows a value in the list of changes; by default as it is. */
  readonly show?: (value: string) => string;
  /** Why the value cannot be sent; undefined if it can. */
  readonly wrong?: (value: string) => string | undefined;
  /** What the reader should know before a change to this value is sent; undefined if nothing. */
  readonly consequence?: (value: string) => string | undefined;
}

interface EditFormProps {
  /** Says what is changed, such as `Change the game`: the fold and the button. */
  readonly label: string;
  readonly role: Role;
  readonly fields: readonly EditField[];
  /** What else the reader should know before the changes are sent. */
  readonly note?: string;
  /** Sends the fields that differ, by name; an empty text stands for "no value". */
  readonly run: (changes: Readonly<Record<string, string>>) => Promise<Outcome | undefined>;
  readonly onDone: () => void;
}

/** A folded form of a record's fields. What will change is listed before it is sent, and only that is sent. */
export function EditForm({ label, role, fields, note, run, onDone }: EditFormProps) {
  const edited = useSignal<Readonly<Record<string, string>>>({});
  const sent = useRef<Readonly<Record<string, string>>>({});
  // In each rendering, because `fields` is no signal: a record that was read again has other values.
  const changes = fields.filter(({ name, value }) => (edited.value[name] ?? value) !== value);
  useUnsaved(changes.length > 0);
  const textOf = ({ name, value }: EditField) => (edited.value[name] ?? value).trim();
  const wrong = fields.flatMap((field) => field.wrong?.(textOf(field)) ?? []).at(0);
  const obstacle = changes.length === 0 ? words.unchanged : wrong;
  const list = (
    <span class="changes">
      {changes.map((field) => {
        const { name, label: term, value, show = (text) => text, consequence } = field;
        const [before, after] = [value, textOf(field)].map((text) => (text === '' ? words.none : show(text)));
        const consequences = consequence?.(textOf(field));
        return (
          <span key={name}>
            {words.change(term, before ?? '', after ?? '')}{' '}
            {consequences !== undefined && <strong>{consequences}</strong>}
          </span>
        );
      })}
      {note !== undefined && <span>{note}</span>}
    </span>
  );
  return (
    <details class="mb-3">
      <summary>{label}</summary>
      <form class="edit" onSubmit={(event) => event.preventDefault()}>
        {fields.map((field) => (
          <Field
            key={field.name}
            field={field}
            text={edited.value[field.name] ?? field.value}
            onText={(text) => {
              const { [field.name]: _before, ...others } = edited.value;
              // A field that is as it was follows the record again, unless its other value was sent and may be stored.
              const follows = text === field.value && !(field.name in sent.current);
              edited.value = follows ? others : { ...others, [field.name]: text };
            }}
          />
        ))}
        <ActionButton
          label={label}
          role={role}
          sentence={list}
          impossible={obstacle}
          run={() => {
            sent.current = edited.value;
            return run(Object.fromEntries(changes.map((field) => [field.name, textOf(field)])));
          }}
          onDone={() => {
            // The person may have left the dialog, and edited the form since.
            const unsent = Object.entries(edited.value).filter(([name, text]) => text !== sent.current[name]);
            edited.value = Object.fromEntries(unsent);
            sent.current = {};
            onDone();
          }}
        />
      </form>
    </details>
  );
}

interface FieldProps {
  readonly field: EditField;
  readonly text: string;
  readonly onText: (text: string) => void;
}

function Field({ field: { label, options, hint, wrong }, text, onText }: FieldProps) {
  const shared = { label, hint, wrong: wrong?.(text.trim()), value: text };
  if (!options) return <InputField {...shared} onInput={(event) => onText(event.currentTarget.value)} />;
  return (
    <SelectField {...shared} onChange={(event) => onText(event.currentTarget.value)}>
      {options.map((option) => (
        <option key={option}>{option}</option>
      ))}
    </SelectField>
  );
}
