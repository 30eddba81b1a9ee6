import type { Schema } from '../../api/schemas.ts';
import { overview as live } from '../../api/stream.ts';
import type { Column } from '../../parts/data-table.tsx';
import { Left } from '../../parts/time.tsx';
import { tenants as words } from '../../strings.ts';

type Listed = Schema<'OperatorResponse'> | Schema<'ProviderResponse'>;

/** The columns that operators and providers share; their state is that of the live overview. */
export function columnsOf<Row extends Listed>(addressOf: (id: string) => string): readonly Column<Row>[] {
  const stateOf = ({ id, kind }: Listed) =>
    live.value?.[kind === 'OPERATOR' ? 'operators' : 'providers'].find((tenant) => tenant.id === id);
  return [
    { title: words.id, cell: ({ id }) => <a href={addressOf(id)}>{id}</a> },
    { title: words.name, cell: ({ name }) => name },
    { title: words.status, cell: ({ status }) => status },
    { title: words.state, cell: (row) => stateOf(row)?.state ?? '–' },
    {
      title: words.p95,
      numeric: true,
      cell: (row) => {
        const { p95Ms = null } = stateOf(row) ?? {};
        return p95Ms === null ? '–' : `${p95Ms} ms`;
      },
    },
    {
      title: words.pause,
      cell: ({ pause }) =>
        pause && (
          <>
            <span class="badge text-bg-warning">{words.paused}</span> {pause.reason}{' '}
            {pause.until !== undefined && <Left until={pause.until} />}
          </>
        ),
    },
  ];
}
