import { useRoute } from 'preact-iso';
import { answer, api } from '../../api/client.ts';
import { Problem } from '../../api/problem.ts';
import type { Schema } from '../../api/schemas.ts';
import { EditForm } from '../../parts/actions/edit-form.tsx';
import { Pausing } from '../../parts/actions/pausing.tsx';
import { isMissing, Missing } from '../../parts/frame/missing.tsx';
import { addressOf } from '../../parts/links/addresses.ts';
import { useTitle } from '../../parts/links/page.ts';
import { providerLink } from '../../parts/links/record-links.tsx';
import { Loaded } from '../../parts/reading/loaded.tsx';
import { useResource, WITH_OVERVIEW } from '../../parts/reading/resource.ts';
import { Details } from '../../parts/values/details.tsx';
import { Time } from '../../parts/values/time.tsx';
import { edit, games as words } from '../../strings.ts';

export default function Game() {
  const { id = '' } = useRoute().params;
  useTitle(words.one(id));
  const game = useResource(
    `game ${id}`,
    (signal) => answer(api.GET('/v1/admin/games/{gameId}', { params: { path: { gameId: id } }, signal })),
    WITH_OVERVIEW,
  );
  if (isMissing(game)) return <Missing kind="game" />;
  return (
    <>
      <h1 class="h4">{words.one(id)}</h1>
      <Loaded of={game}>
        {(data) => (
          <>
            <Pausing kind="game" id={id} pause={data.pause} onDone={game.reload} />
            <Facts game={data} />
            <Changes game={data} reload={game.reload} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Facts({ game }: { readonly game: Schema<'GameResponse'> }) {
  return (
    <Details
      items={[
        [words.name, game.name],
        [words.provider, providerLink(game)],
        [words.status, game.status],
        [words.launchUrl, game.launchUrl],
        [words.roundDetailsUrl, game.roundDetailsUrl],
        [words.created, <Time at={game.createdAt} />],
        [words.updated, <Time at={game.updatedAt} />],
        [
          words.more,
          <span class="d-flex flex-wrap row-gap-1 column-gap-3">
            <a href={addressOf.list('rounds', { gameId: game.gameId })}>{words.rounds}</a>
            <a href={addressOf.list('transactions', { gameId: game.gameId })}>{words.transactions}</a>
          </span>,
        ],
      ]}
    />
  );
}

function Changes({ game, reload }: { readonly game: Schema<'GameResponse'>; readonly reload: () => void }) {
  const { gameId, providerId, name, status, launchUrl, roundDetailsUrl } = game;
  return (
    <EditForm
      label={words.change}
      role="admin"
      fields={[
        { name: 'name', label: words.name, value: name },
        {
          name: 'status',
          label: words.status,
          value: status,
          options: ['ACTIVE', 'DISABLED'],
          consequence: (chosen) => (chosen === 'DISABLED' ? edit.disables.game : undefined),
        },
        { name: 'launchUrl', label: words.launchUrl, value: launchUrl ?? '' },
        {
          name: 'roundDetailsUrl',
          label: words.roundDetailsUrl,
          value: roundDetailsUrl ?? '',
          hint: words.roundDetailsHint,
        },
      ]}
      run={async (changes) => {
        const params = { path: { gameId } };
        // A PUT replaces the game: what another administrator has changed meanwhile must not be undone.
        const current = await answer(api.GET('/v1/admin/games/{gameId}', { params }));
        if (current.updatedAt !== game.updatedAt) {
          reload();
          throw Problem.ofForm(words.changedMeanwhile);
        }
        const body = {
          providerId,
          name: changes['name'] ?? name,
          status: (changes['status'] ?? status) as typeof status,
          launchUrl: (changes['launchUrl'] ?? launchUrl) || null,
          roundDetailsUrl: (changes['roundDetailsUrl'] ?? roundDetailsUrl) || null,
        };
        await answer(api.PUT('/v1/admin/games/{gameId}', { params, body }));
      }}
      onDone={reload}
    />
  );
}
