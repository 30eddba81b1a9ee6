import { may } from '../../api/session.ts';
import { HintedButton } from '../../parts/actions/action.tsx';
import { withQuery } from '../../parts/links/addresses.ts';
import { usePage } from '../../parts/links/page.ts';
import { Views } from '../../parts/lists/views.tsx';
import { action, freeSpins as words } from '../../strings.ts';

export const GRANTS = '/console/free-spins';
export const BATCHES = '/console/free-spins/batches';

/** The heading of both lists, with links to their forms; a form begins with what the filter selects. */
export function Heading() {
  const { query } = usePage();
  const { operatorId, playerRef, gameId } = query;
  const given = { operatorId, playerRef, gameId };
  return (
    <>
      <div class="d-flex flex-wrap justify-content-between gap-2">
        <h1 class="h4">{words.title}</h1>
        <div class="toolbar align-self-start">
          <FormLink title={words.newGrant} href={withQuery(GRANTS, { new: 'grant', ...given })} />
          <FormLink title={words.newBatch} href={withQuery(BATCHES, { new: 'batch', operatorId, gameId })} />
        </div>
      </div>
      <Views
        views={[
          { title: words.grants, path: GRANTS },
          { title: words.failedGrants, path: GRANTS, query: { state: 'FAILED' } },
          { title: words.batches, path: BATCHES },
        ]}
      />
    </>
  );
}

function FormLink({ title, href }: { readonly title: string; readonly href: string }) {
  if (may('promotions')) {
    return (
      <a class="btn btn-sm btn-primary" href={href}>
        {title}
      </a>
    );
  }
  return <HintedButton label={title} style="btn-primary" obstacle={action.needsRole('promotions')} />;
}
