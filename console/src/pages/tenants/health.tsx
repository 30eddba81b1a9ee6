import { answer, api } from '../../api/client.ts';
import type { Schema } from '../../api/schemas.ts';
import { type Column, Rows } from '../../parts/lists/data-table.tsx';
import { Loaded } from '../../parts/reading/loaded.tsx';
import { useResource, WITH_OVERVIEW } from '../../parts/reading/resource.ts';
import { health as words } from '../../strings.ts';

interface HealthProps {
  readonly kind: 'operator' | 'provider';
  readonly id: string;
}

type Window = Schema<'HealthWindow'> & { readonly minutes: '1' | '5' | '60' };

/** How well the tenant answered in the last minute, five minutes and hour. Read again with each overview. */
export function Health({ kind, id }: HealthProps) {
  const params = { path: { id } };
  const health = useResource(
    `${kind} ${id} health`,
    (signal) => answer(api.GET(`/v1/admin/${kind}s/{id}/health`, { params, signal })),
    WITH_OVERVIEW,
  );
  const columns: readonly Column<Window>[] = [
    { title: words.window, cell: ({ minutes }) => words.minutes(minutes) },
    { title: words.calls, numeric: true, cell: ({ calls }) => calls },
    {
      title: words.successRate,
      numeric: true,
      cell: ({ successRate }) => (successRate === null ? '–' : words.percent(successRate)),
    },
    { title: words.p95, numeric: true, cell: ({ p95Ms }) => (p95Ms === null ? '–' : `${p95Ms} ms`) },
    { title: words.timeouts, numeric: true, cell: ({ timeouts }) => timeouts },
  ];
  return (
    <Loaded of={health}>
      {({ state, windows }) => (
        <section>
          <h2 class="h5">
            {words.title}: <span class={state === 'ok' ? undefined : 'alarm'}>{state}</span>
          </h2>
          <Rows
            caption={words.title}
            columns={columns}
            rows={(['1', '5', '60'] as const).map((minutes) => ({ minutes, ...windows[minutes] }))}
            keyOf={({ minutes }) => minutes}
          />
        </section>
      )}
    </Loaded>
  );
}
