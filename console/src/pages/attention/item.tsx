import { useRoute } from 'preact-iso';
import { answer, api } from '../../api/client.ts';
import type { Schema } from '../../api/schemas.ts';
import { ActionButton, type ActionProps } from '../../parts/actions/action.tsx';
import { instantIn, linesIn, textIn } from '../../parts/forms/form-field.tsx';
import { isMissing, Missing } from '../../parts/frame/missing.tsx';
import { IdLink } from '../../parts/links/id-link.tsx';
import { useTitle } from '../../parts/links/page.ts';
import { operatorLink, providerLink } from '../../parts/links/record-links.tsx';
import { type Column, Rows } from '../../parts/lists/data-table.tsx';
import { Loaded } from '../../parts/reading/loaded.tsx';
import { useResource } from '../../parts/reading/resource.ts';
import { Details } from '../../parts/values/details.tsx';
import { Person } from '../../parts/values/person.tsx';
import { Time, TimeAndAgo, timeText } from '../../parts/values/time.tsx';
import { attention as words } from '../../strings.ts';
import { causePage, grantsPage } from './causes.ts';
import { AssigneeField, CommentField, UntilField } from './fields.tsx';
import { ItemState } from './item-state.tsx';

type Item = Schema<'AttentionResponse'>;

export default function ItemPage() {
  const { id = '' } = useRoute().params;
  useTitle(words.one);
  const item = useResource(
    id,
    (signal) => answer(api.GET('/v1/admin/attention/{id}', { params: { path: { id } }, signal })),
    { on: { attention: (changed) => changed.id === id } },
  );
  if (isMissing(item)) return <Missing kind="item" />;
  return (
    <>
      <h1 class="h4">{words.one}</h1>
      <Loaded of={item}>{(data) => <Whole item={data} onDone={item.reload} />}</Loaded>
    </>
  );
}

interface WholeProps {
  readonly item: Item;
  readonly onDone: () => void;
}

function Whole({ item, onDone }: WholeProps) {
  const { kind, summary, subject, count, assignee } = item;
  const { createdAt, closedAt, closedBy, closedByName, reason, comments, history } = item;
  const grants = grantsPage(item);
  return (
    <>
      <p class="fs-5">
        <ItemState item={item} /> {summary}
      </p>
      <Actions item={item} onDone={onDone} />
      <Details
        items={[
          [words.cause, <IdLink id={subject} href={causePage(item)} />],
          [words.grants, grants && <a href={grants}>{words.openGrants(count ?? 0)}</a>],
          [words.kind, words.kindOf[kind]],
          [words.count, count],
          [words.assignee, assignee ?? words.nobody],
          [words.operator, operatorLink(item)],
          [words.provider, providerLink(item)],
          [words.opened, <TimeAndAgo at={createdAt} />],
          [words.closed, closedAt && <Time at={closedAt} />],
          [words.closedBy, closedBy && <Person name={closedByName} id={closedBy} />],
          [words.reason, reason],
        ]}
      />
      <Rows
        caption={words.comments}
        columns={COMMENTS}
        rows={comments}
        keyOf={({ at, by, text }) => JSON.stringify([at, by, text])}
        empty={words.noComments}
      />
      <Rows
        caption={words.history}
        columns={HISTORY}
        rows={history.filter(({ event }) => event !== 'commented')}
        keyOf={({ at, event, text }) => JSON.stringify([at, event, text])}
      />
    </>
  );
}

function Actions({ item: { id, state }, onDone }: WholeProps) {
  const shared = {
    role: 'operations',
    impossible: state === 'CLOSED' ? words.isClosed : undefined,
    onDone,
  } satisfies Partial<ActionProps>;
  const params = { path: { id } };
  return (
    <div class="toolbar mb-3">
      <ActionButton
        {...shared}
        label={words.assign}
        sentence={words.assignSentence(1)}
        fields={<AssigneeField />}
        run={async (form) => {
          const assignee = textIn(form, 'assignee') || null;
          await answer(api.POST('/v1/admin/attention/{id}/assign', { params, body: { assignee } }));
          return { message: assignee === null ? words.unassigned : words.assigned(assignee) };
        }}
      />
      <ActionButton
        {...shared}
        label={words.snooze}
        sentence={words.snoozeSentence(1)}
        fields={<UntilField />}
        run={async (form) => {
          const until = instantIn(form, 'until') ?? '';
          await answer(api.POST('/v1/admin/attention/{id}/snooze', { params, body: { until } }));
          return { message: words.snoozed(timeText(until)) };
        }}
      />
      <ActionButton
        {...shared}
        impossible={undefined}
        label={words.addComment}
        sentence={words.commentSentence}
        fields={<CommentField />}
        run={async (form) => {
          const text = linesIn(form, 'text');
          await answer(api.POST('/v1/admin/attention/{id}/comments', { params, body: { text } }));
          return { message: words.commented };
        }}
      />
      <ActionButton
        {...shared}
        label={words.close}
        sentence={words.closeSentence(1)}
        reason="required"
        danger
        run={async (_form, reason) => {
          await answer(api.POST('/v1/admin/attention/{id}/close', { params, body: { reason } }));
          return { message: words.closedNow };
        }}
      />
    </div>
  );
}

const COMMENTS: readonly Column<Schema<'AttentionComment'>>[] = [
  { title: words.at, cell: ({ at }) => <Time at={at} /> },
  { title: words.by, cell: ({ by, byName }) => <Person name={byName} id={by} /> },
  { title: words.comment, cell: ({ text }) => <span class="lines">{text}</span> },
];

const HISTORY: readonly Column<Schema<'AttentionHistoryEntry'>>[] = [
  { title: words.at, cell: ({ at }) => <Time at={at} /> },
  { title: words.by, cell: ({ by, byName }) => <Person name={byName} id={by} /> },
  { title: words.event, cell: ({ event }) => words.eventOf[event] },
  { title: words.text, cell: ({ text }) => <HistoryText text={text ?? ''} /> },
];

/** The end of a snooze, such as `until 2026-01-31T06:00:00Z`, is shown in local time. */
function HistoryText({ text }: { readonly text: string }) {
  const [, end] = /^until (\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z)$/.exec(text) ?? [];
  return end === undefined ? <>{text}</> : <Time at={end} />;
}
