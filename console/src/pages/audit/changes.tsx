import type { ComponentChildren } from 'preact';
import type { Schema } from '../../api/schemas.ts';
import { Money } from '../../parts/values/money.tsx';
import { audit as words } from '../../strings.ts';
import { changesBetween, currencyOf, isAmount } from './changes.ts';

type Entry = Schema<'AuditEntryResponse'>;

/** Each field that the action changed, with its value before and after. */
export function Changes({ of: { target, before, after } }: { readonly of: Entry }) {
  const currency = currencyOf(target, after, before);
  const changes = changesBetween(before, after);
  return (
    <ul class="list-unstyled mb-0 changed">
      {changes.map(({ field, before: old, after: current }) => (
        <li key={field}>
          <span class="text-body-secondary">{field}</span>{' '}
          {before !== undefined && (
            <>
              <del>{valueOf(field, old, currency)}</del> {words.becomes}{' '}
            </>
          )}
          <span>{valueOf(field, current, currency)}</span>
        </li>
      ))}
    </ul>
  );
}

function valueOf(field: string, value: unknown, currency: string | undefined): ComponentChildren {
  if (value === undefined || value === null) return words.nothing;
  if (typeof value === 'number' && currency !== undefined && isAmount(field))
    return <Money minor={value} currency={currency} />;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
