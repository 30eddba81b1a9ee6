import type { Schema } from '../../api/schemas.ts';
import { CALLBACK_COLUMNS, callbackKey } from '../../parts/lists/callback-columns.tsx';
import { type Page, Rows } from '../../parts/lists/data-table.tsx';
import { Loaded } from '../../parts/reading/loaded.tsx';
import type { Resource } from '../../parts/reading/resource.ts';
import { sessions as words } from '../../strings.ts';

/** The calls to the provider about this session. */
export function Callbacks({ of }: { readonly of: Resource<Page<Schema<'CallbackItem'>>> }) {
  return (
    <section id="callbacks" aria-label={words.callbacks}>
      <Loaded of={of}>
        {({ items }) => (
          <Rows
            caption={words.callbacks}
            columns={CALLBACK_COLUMNS}
            rows={items}
            keyOf={callbackKey}
            empty={words.noCallbacks}
          />
        )}
      </Loaded>
    </section>
  );
}
