import type { Schema } from '../../api/schemas.ts';
import { callbacks as words } from '../../strings.ts';
import { IdLink } from '../links/id-link.tsx';
import { JsonView } from '../values/json-view.tsx';
import { Time } from '../values/time.tsx';
import type { Column } from './data-table.tsx';

type Callback = Schema<'CallbackItem'>;

/** The columns of a list of calls to a provider. */
export const CALLBACK_COLUMNS: readonly Column<Callback>[] = [
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
  { title: words.request, cell: ({ requestId }) => <IdLink id={requestId} /> },
];

export const callbackKey = ({ callbackId }: Callback) => String(callbackId);

/** An answer that was cut off has both a status and an error. */
function Answered({ of: { status, error, completedAt } }: { readonly of: Callback }) {
  if (completedAt === undefined) return <>{words.underWay}</>;
  const text = [status, error].filter((part) => part !== undefined).join(': ');
  return status === 200 && error === undefined ? <>{text}</> : <strong class="alarm">{text}</strong>;
}
