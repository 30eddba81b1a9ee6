import { answer, api } from '../../api/client.ts';
import { Problem } from '../../api/problem.ts';
import { ActionButton } from '../../parts/actions/action.tsx';
import { InputField, textIn } from '../../parts/forms/form-field.tsx';
import { usePage, useTitle } from '../../parts/links/page.ts';
import { gameLink, providerLink } from '../../parts/links/record-links.tsx';
import { CsvButton } from '../../parts/lists/csv-button.tsx';
import { DataTable } from '../../parts/lists/data-table.tsx';
import { PAUSE_COLUMN } from '../../parts/lists/pause-column.tsx';
import { useResource, WITH_OVERVIEW } from '../../parts/reading/resource.ts';
import { games as words } from '../../strings.ts';

export default function Games() {
  const { url, query } = usePage();
  useTitle(words.title);
  const list = useResource(
    url,
    (signal) => answer(api.GET('/v1/admin/games', { params: { query }, signal })),
    WITH_OVERVIEW,
  );
  return (
    <>
      <h1 class="h4">{words.title}</h1>
      <div class="actions">
        <ActionButton
          label={words.create}
          role="admin"
          sentence={words.willCreate}
          fields={
            <>
              <InputField name="gameId" label={words.id} required />
              <InputField name="providerId" label={words.provider} required />
              <InputField name="name" label={words.name} required />
            </>
          }
          run={async (form) => {
            const gameId = textIn(form, 'gameId');
            const body = { providerId: textIn(form, 'providerId'), name: textIn(form, 'name') };
            const params = { path: { gameId } };
            // A PUT would replace a game that exists.
            if (await exists(gameId)) throw Problem.ofForm(words.exists(gameId));
            await answer(api.PUT('/v1/admin/games/{gameId}', { params, body }));
          }}
          onDone={list.reload}
        />
        <CsvButton path="/v1/admin/games" />
      </div>
      <DataTable
        caption={words.title}
        list={list}
        keyOf={({ gameId }) => gameId}
        columns={[
          { title: words.id, cell: gameLink },
          { title: words.name, cell: ({ name }) => name },
          { title: words.provider, cell: providerLink },
          { title: words.status, cell: ({ status }) => status },
          PAUSE_COLUMN,
        ]}
      />
    </>
  );
}

/** @throws Problem if the service does not say whether the game exists */
async function exists(gameId: string): Promise<boolean> {
  try {
    await answer(api.GET('/v1/admin/games/{gameId}', { params: { path: { gameId } } }));
    return true;
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return false;
    throw error;
  }
}
