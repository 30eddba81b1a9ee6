import type { ComponentChildren } from 'preact';

/** Terms and their values. A value that is absent (`null`, `undefined`, `false`, empty text) is left out. */
export function Details({ items }: { readonly items: readonly (readonly [string, ComponentChildren])[] }) {
  const shown = items.filter(
    ([, value]) => value !== undefined && value !== null && value !== false && value !== '',
  );
  return (
    <dl class="details">
      {shown.map(([term, value]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
