import { useLocation } from 'preact-iso';
import { useId } from 'preact/hooks';
import { answer, api } from '../../api/client.ts';
import { addressOf } from '../../parts/addresses.ts';
import { CsvButton } from '../../parts/csv-button.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { type Filter, Filters } from '../../parts/filters.tsx';
import { usePage } from '../../parts/page.ts';
import { RefreshButton } from '../../parts/refresh-button.tsx';
import { useResource, useTitle } from '../../parts/resource.ts';
import { SESSION_COLUMNS } from '../../parts/session-columns.tsx';
import { players as words, sessions } from '../../strings.ts';

const PATH = '/v1/admin/sessions';

const FIELDS: readonly Filter[] = [
  { name: 'operatorId', label: sessions.operator, type: 'text' },
  { name: 'providerId', label: sessions.provider, type: 'text' },
  { name: 'gameId', label: sessions.game, type: 'text' },
  { name: 'revoked', label: sessions.revoked, type: 'boolean' },
  { name: 'from', label: words.from, type: 'instant' },
  { name: 'to', label: words.to, type: 'instant' },
  { name: 'playerRef', label: sessions.player, type: 'text' },
];

export default function Players() {
  useTitle(words.title);
  const { url, query } = usePage();
  const list = useResource(url, (signal) => answer(api.GET(PATH, { params: { query }, signal })));
  return (
    <>
      <h1 class="h4">{words.title}</h1>
      <FindPlayer />
      <details class="mb-2" open={Object.keys(query).length > 0}>
        <summary>{words.filterSessions}</summary>
        <Filters fields={FIELDS} reload={list.reload} />
      </details>
      <div class="toolbar mb-2">
        <RefreshButton reload={list.reload} />
        <CsvButton path={PATH} />
      </div>
      <DataTable
        caption={words.newestSessions}
        list={list}
        columns={SESSION_COLUMNS}
        keyOf={({ sessionId }) => sessionId}
      />
    </>
  );
}

/** Leads to the page of a player. */
function FindPlayer() {
  const { route } = useLocation();
  const [operatorField, playerField] = [useId(), useId()];
  const operators = useResource('operators', (signal) =>
    answer(api.GET('/v1/admin/operators', { params: { query: { limit: 500 } }, signal })),
  );
  const open = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => {
      const value = form.get(name);
      return typeof value === 'string' ? value.trim() : '';
    };
    route(addressOf.player(text('playerRef'), text('operatorId')));
  };
  return (
    <form class="filters" aria-label={words.find} onSubmit={open}>
      <div>
        <label for={playerField} class="form-label">
          {words.playerRef}
        </label>
        <input
          id={playerField}
          name="playerRef"
          class="form-control form-control-sm"
          required
          maxLength={128}
          autoComplete="off"
          spellcheck={false}
        />
      </div>
      <div>
        <label for={operatorField} class="form-label">
          {words.atOperator}
        </label>
        <select id={operatorField} name="operatorId" class="form-select form-select-sm">
          <option value="">{words.anyOperator}</option>
          {operators.data.value?.items.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </div>
      <div class="filters-buttons">
        <button type="submit" class="btn btn-sm btn-primary">
          {words.open}
        </button>
      </div>
    </form>
  );
}
