import { useRoute } from 'preact-iso';
import { answer, api } from '../../api/client.ts';
import type { Schema } from '../../api/schemas.ts';
import { isMissing, Missing } from '../../parts/frame/missing.tsx';
import { addressOf } from '../../parts/links/addresses.ts';
import { useRedirect, useTitle } from '../../parts/links/page.ts';
import { Loaded } from '../../parts/reading/loaded.tsx';
import { useResource } from '../../parts/reading/resource.ts';
import { callbacks as words } from '../../strings.ts';

/** Leads to the grant or session that a callback is about: its page lists the callbacks. */
export default function CallbackPage() {
  const { callbackId = '' } = useRoute().params;
  useTitle(words.one);
  const callback = useResource(callbackId, (signal) =>
    answer(api.GET('/v1/admin/callbacks/{callbackId}', { params: { path: { callbackId } }, signal })),
  );
  const found = callback.data.value;
  useRedirect(found && pageOf(found));
  if (isMissing(callback)) return <Missing kind="callback" />;
  return (
    <>
      <h1 class="h4">{words.one}</h1>
      <Loaded of={callback}>{() => null}</Loaded>
    </>
  );
}

function pageOf({ route, reference }: Schema<'CallbackItem'>): string {
  return route.includes('/session/') ? addressOf.session(reference) : addressOf.grant(reference);
}
