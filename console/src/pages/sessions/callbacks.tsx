import type { Schema } from '../../api/schemas.ts';
import { IdLink } from '../../parts/links/id-link.tsx';
import { type Column, type Page, Rows } from '../../parts/lists/data-table.tsx';
import { Loaded } from '../../parts/reading/loaded.tsx';
import type { Resource } from '../../parts/reading/resource.ts';
import { JsonView } from '../../parts/values/json-view.tsx';
import { Time } from '../../parts/values/time.tsx';
import { sessions as words } from '../../strings.ts';

type Callback = Schema<'CallbackItem'>;

const COLUMNS: readonly Column<Callback>[] = [
  { title: words.sentAt, cell: ({ createdAt }) => <Time at={createdAt} /> },
  { title: words.route, cell: ({ route }) => <IdLink id={route} /> },
  { title: words.answered, cell: (callback) => <Answered of={callback} /> },
  {
    title: words.duration,
    numeric: true,
    cell: ({ durationMs }) => durationMs !== undefined && words.milliseconds(durationMs),
  },
  {
    title: words.bodies,
    cell: ({ body, answer }) => (
      <>
        <JsonView name={words.sent} value={body} />
        {answer !== undefined && <JsonView name={words.answer} value={answer} />}
      </>
    ),
  },
];

/** The calls to the provider about this session. */
export function Callbacks({ of }: { readonly of: Resource<Page<Callback>> }) {
  return (
    <section id="callbacks" aria-label={words.callbacks}>
      <Loaded of={of}>
        {({ items }) => (
          <Rows
            caption={words.callbacks}
            columns={COLUMNS}
            rows={items}
            keyOf={({ callbackId }) => String(callbackId)}
            empty={words.noCallbacks}
          />
        )}
      </Loaded>
    </section>
  );
}

function Answered({ of: { status, error, completedAt } }: { readonly of: Callback }) {
  if (completedAt === undefined) return <>{words.underWay}</>;
  const text = [status, error].filter((part) => part !== undefined).join(': ');
  return status === 200 ? <>{text}</> : <strong class="alarm">{text}</strong>;
}
