import { useLocation } from 'preact-iso';
import { answer, api } from '../../api/client.ts';
import { InputField, SelectField, textIn } from '../../parts/forms/form-field.tsx';
import { addressOf } from '../../parts/links/addresses.ts';
import { usePage, useTitle } from '../../parts/links/page.ts';
import { CsvButton } from '../../parts/lists/csv-button.tsx';
import { DataTable } from '../../parts/lists/data-table.tsx';
import { type Filter, Filters } from '../../parts/lists/filters.tsx';
import { SESSION_COLUMNS } from '../../parts/lists/session-columns.tsx';
import { RefreshButton } from '../../parts/reading/refresh-button.tsx';
import { useResource } from '../../parts/reading/resource.ts';
import { filters, players as words, sessions } from '../../strings.ts';

const PATH = '/v1/admin/sessions';

const FIELDS: readonly Filter[] = [
  { name: 'operatorId', label: sessions.operator, type: 'text' },
  { name: 'providerId', label: sessions.provider, type: 'text' },
  { name: 'gameId', label: sessions.game, type: 'text' },
  {
    name: 'revoked',
    label: sessions.revoked,
    type: 'choice',
    names: { true: filters.yes, false: filters.no },
  },
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
  const operators = useResource('operators', (signal) =>
    answer(api.GET('/v1/admin/operators', { params: { query: { limit: 500 } }, signal })),
  );
  const open = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    route(addressOf.player(textIn(form, 'playerRef'), textIn(form, 'operatorId')));
  };
  return (
    <form class="filters" aria-label={words.find} onSubmit={open}>
      <InputField label={words.playerRef} name="playerRef" required maxLength={128} />
      <SelectField label={words.atOperator} name="operatorId">
        <option value="">{words.anyOperator}</option>
        {operators.data.value?.items.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      <div class="toolbar">
        <button type="submit" class="btn btn-sm btn-primary">
          {words.open}
        </button>
      </div>
    </form>
  );
}
