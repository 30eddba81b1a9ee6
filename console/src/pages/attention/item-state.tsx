import type { Schema } from '../../api/schemas.ts';
import { Left } from '../../parts/values/time.tsx';
import { attention as words } from '../../strings.ts';

type Item = Schema<'AttentionItem'>;

const COLOURS: Readonly<Record<Item['state'], string>> = {
  OPEN: 'text-bg-warning',
  SNOOZED: 'text-bg-info',
  CLOSED: 'text-bg-secondary',
};

export function ItemState({ item: { state, snoozedUntil } }: { readonly item: Item }) {
  return (
    <>
      <span class={`badge ${COLOURS[state]}`}>{words.stateOf[state]}</span>
      {state === 'SNOOZED' && snoozedUntil !== undefined && (
        <>
          {' '}
          <Left until={snoozedUntil} />
        </>
      )}
    </>
  );
}
