import { useLocation } from 'preact-iso';
import { useId } from 'preact/hooks';
import { filters as words } from '../strings.ts';
import { withQuery } from './addresses.ts';

/** A filter of the API, by its name there. */
export type Filter = {
  readonly name: string;
  readonly label: string;
} & (
  | { readonly type: 'text' | 'instant' }
  | { readonly type: 'number'; readonly min?: number }
  /** `true` or `false`, or neither. */
  | { readonly type: 'boolean' }
  | {
      readonly type: 'choice';
      readonly options: readonly string[];
      readonly names?: Readonly<Record<string, string>>;
    }
);

/** A form whose values are the address's query. Applying it leads to the first page of the filtered list. */
export function Filters({ fields }: { readonly fields: readonly Filter[] }) {
  const { path, query, route } = useLocation();
  const apply = (event: SubmitEvent) => {
    event.preventDefault();
    const values = new FormData(event.currentTarget as HTMLFormElement);
    const given = fields.map((field) => [field.name, valueOf(field, values)] as const);
    route(withQuery(path, Object.fromEntries(given)));
  };
  return (
    // Its key is the address, so that Back and links change what the fields show.
    <form
      key={JSON.stringify(query)}
      class="filters"
      role="search"
      aria-label={words.legend}
      onSubmit={apply}
    >
      {fields.map((field) => (
        <Field key={field.name} field={field} value={query[field.name] ?? ''} />
      ))}
      <div class="filters-buttons">
        <button type="submit" class="btn btn-sm btn-primary">
          {words.apply}
        </button>
        <a class="btn btn-sm btn-outline-secondary" href={path}>
          {words.clear}
        </a>
      </div>
    </form>
  );
}

/** The types of a JSX input allow different attributes, but each of these allows those that are used here. */
const INPUT_TYPES: Readonly<Record<string, 'text'>> = {
  number: 'number' as 'text',
  instant: 'datetime-local' as 'text',
};

function Field({ field, value }: { readonly field: Filter; readonly value: string }) {
  const id = useId();
  const { name, label, type } = field;
  const choices = type === 'choice' ? field.options : type === 'boolean' ? ['true', 'false'] : undefined;
  const names: Readonly<Record<string, string>> =
    type === 'boolean' ? { true: words.yes, false: words.no } : type === 'choice' ? (field.names ?? {}) : {};
  return (
    <div>
      <label for={id} class="form-label">
        {label}
      </label>
      {choices ? (
        <select id={id} name={name} class="form-select form-select-sm" value={value}>
          <option value="">{words.any}</option>
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {names[choice] ?? choice}
            </option>
          ))}
        </select>
      ) : (
        <input
          id={id}
          name={name}
          class="form-control form-control-sm"
          type={INPUT_TYPES[type] ?? 'text'}
          min={type === 'number' ? field.min : undefined}
          step={type === 'instant' ? 1 : undefined}
          defaultValue={type === 'instant' ? localOf(value) : value}
          autoComplete="off"
          spellcheck={false}
        />
      )}
    </div>
  );
}

function valueOf({ name, type }: Filter, values: FormData): string {
  const value = values.get(name);
  const text = typeof value === 'string' ? value.trim() : '';
  return type === 'instant' && text !== '' ? new Date(text).toISOString() : text;
}

/** An instant as a field for local time shows it; empty if the address has no valid instant. */
export function localOf(instant: string): string {
  const date = new Date(instant);
  if (instant === '' || Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
