import { json as words } from '../../strings.ts';

interface JsonViewProps {
  /** What it is, such as `the operator's answer`. */
  readonly name: string;
  /** A raw body as text, or a value. It is shown as text, whatever is in it. */
  readonly value: unknown;
}

/** A raw body, folded. JSON is indented; anything else is shown as it is. */
export function JsonView({ name, value }: JsonViewProps) {
  return (
    <details class="json-view">
      <summary>{words.show(name)}</summary>
      <pre tabIndex={0}>{jsonText(value) || words.empty}</pre>
    </details>
  );
}

export function jsonText(value: unknown): string {
  if (typeof value !== 'string') return value === undefined ? '' : JSON.stringify(value, null, 2);
  try {
    const parsed: unknown = JSON.parse(value);
    const indented = JSON.stringify(parsed, null, 2);
    // A number that JavaScript cannot hold would be shown as another one.
    return JSON.stringify(parsed) === value.replace(/\s+/g, '') ? indented : value;
  } catch {
    return value;
  }
}
