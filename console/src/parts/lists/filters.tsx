import { useLocation } from 'preact-iso';
import { amount, filters as words, time } from '../../strings.ts';
import { InputField, SelectField } from '../forms/form-field.tsx';
import { instantOf, localOf } from '../forms/local-time.ts';
import { withQuery } from '../links/addresses.ts';
import { usePage } from '../links/page.ts';
import { isCurrency, majorUnits, signedMinorUnits } from '../values/major-units.ts';

/** A filter of the API, by its name there. */
export type Filter = {
  readonly name: string;
  readonly label: string;
  /** Folded, unless the address has a value for it. */
  readonly more?: boolean;
} & (
  | { readonly type: 'text' | 'instant' }
  /** Shown in major units of the filter `currency`, which it then needs; in the address as minor units. */
  | { readonly type: 'amount' }
  | { readonly type: 'number'; readonly min?: number }
  | { readonly type: 'choice'; readonly options: readonly string[] }
  /** The texts of the choices, by their values. */
  | { readonly type: 'choice'; readonly names: Readonly<Record<string, string>> }
);

interface FiltersProps {
  readonly fields: readonly Filter[];
  /** Reads the list again if the filter is applied as it is. */
  readonly reload: () => void;
}

/** A form whose values are the address's query. Applying it leads to the first page of the filtered list. */
export function Filters({ fields, reload }: FiltersProps) {
  const { path, query } = usePage();
  const { route } = useLocation();
  const apply = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const values = new FormData(form);
    if (!valuesAreValid(fields, form, values)) return;
    const given = fields.map((field) => [field.name, valueOf(field, values, query)] as const);
    const filtered = withQuery(path, Object.fromEntries(given));
    if (filtered === withQuery(path, query)) reload();
    else route(filtered);
  };
  const folded = fields.filter(({ more }) => more);
  const shown = (field: Filter) => <Field key={field.name} field={field} query={query} />;
  return (
    // Its key is the address, so that Back and links change what the fields show.
    <form
      key={JSON.stringify(query)}
      class="filters"
      role="search"
      aria-label={words.legend}
      onSubmit={apply}
    >
      {fields.filter(({ more }) => !more).map(shown)}
      {folded.length > 0 && (
        <details class="filters-more" open={folded.some(({ name }) => query[name] !== undefined)}>
          <summary>{words.more}</summary>
          <div class="filters mt-2 mb-0">{folded.map(shown)}</div>
        </details>
      )}
      <div class="toolbar">
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

interface FieldProps {
  readonly field: Filter;
  readonly query: Readonly<Record<string, string>>;
}

function Field({ field, query }: FieldProps) {
  const { name, label, type } = field;
  const value = query[name] ?? '';
  if (type === 'choice') {
    const choices =
      'names' in field ? Object.entries(field.names) : field.options.map((option) => [option, option]);
    return (
      <SelectField label={label} name={name}>
        <option value="">{words.any}</option>
        {choices.map(([choice, text]) => (
          // Not by the select's `value`: each new rendering would undo what has been chosen but not applied.
          <option key={choice} value={choice} selected={choice === value}>
            {text}
          </option>
        ))}
      </SelectField>
    );
  }
  return (
    <InputField
      label={label}
      name={name}
      type={type === 'instant' ? 'datetime-local' : type === 'number' ? 'number' : 'text'}
      min={type === 'number' ? field.min : undefined}
      inputMode={type === 'amount' ? 'decimal' : undefined}
      defaultValue={shownValue(type, value, query['currency'] ?? '')}
      onInput={({ currentTarget }) => currentTarget.form && clearRefusals(currentTarget.form)}
    />
  );
}

function shownValue(type: Filter['type'], value: string, currency: string): string {
  if (type === 'instant') return localOf(value);
  if (type !== 'amount' || !/^-?\d+$/.test(value)) return value;
  return (value.startsWith('-') ? '-' : '') + majorUnits(Math.abs(Number(value)), currency);
}

function valueOf({ name, type }: Filter, values: FormData, query: FieldProps['query']): string {
  const text = textOf(values, name);
  if (text === '') return '';
  if (type === 'instant') {
    const instant = instantOf(text) ?? '';
    const given = query[name] ?? '';
    // Local time has no milliseconds, and an hour that occurs twice: what was not edited stays as the address has it.
    return instant === instantOf(localOf(given)) ? given : instant;
  }
  if (type === 'amount') return String(signedMinorUnits(text, textOf(values, 'currency')));
  return text;
}

function textOf(values: FormData, name: string): string {
  const value = values.get(name);
  const text = typeof value === 'string' ? value.trim() : '';
  return name === 'currency' ? text.toUpperCase() : text;
}

/** Names the first field that cannot be applied, in the browser's own way. */
function valuesAreValid(fields: readonly Filter[], form: HTMLFormElement, values: FormData): boolean {
  const currency = textOf(values, 'currency');
  if (currency !== '' && !isCurrency(currency)) return refuse(form, 'currency', amount.invalidCurrency);
  for (const { name, type } of fields) {
    const text = textOf(values, name);
    const refusal = text === '' ? undefined : refusalOf(type, text, currency);
    if (refusal === undefined) continue;
    return refuse(form, refusal === amount.needsCurrency ? 'currency' : name, refusal);
  }
  return true;
}

function refuse(form: HTMLFormElement, name: string, refusal: string): false {
  const field = form.elements.namedItem(name) as HTMLInputElement;
  field.setCustomValidity(refusal);
  field.reportValidity();
  return false;
}

/** Why a value cannot be applied; undefined if it can. */
function refusalOf(type: Filter['type'], text: string, currency: string): string | undefined {
  if (type === 'instant') return instantOf(text) === undefined ? time.invalid : undefined;
  if (type !== 'amount') return undefined;
  if (currency === '') return amount.needsCurrency;
  return signedMinorUnits(text, currency) === undefined ? amount.invalid(currency) : undefined;
}

function clearRefusals(form: HTMLFormElement): void {
  for (const field of form.elements) if (field instanceof HTMLInputElement) field.setCustomValidity('');
}
