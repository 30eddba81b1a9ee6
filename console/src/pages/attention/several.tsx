import { useSignal } from '@preact/signals';
import { answer, api } from '../../api/client.ts';
import type { Schema } from '../../api/schemas.ts';
import { may } from '../../api/session.ts';
import { ActionButton, type ActionProps } from '../../parts/actions/action.tsx';
import { instantIn, textIn } from '../../parts/forms/form-field.tsx';
import { addressOf } from '../../parts/links/addresses.ts';
import { type Column, Rows } from '../../parts/lists/data-table.tsx';
import { attention as words } from '../../strings.ts';
import { AssigneeField, UntilField } from './fields.tsx';

type Item = Schema<'AttentionItem'>;
type Answer = Schema<'SeveralItemsResponse'>;

/** The most items of one call. */
const MOST = 200;

interface SeveralProps {
  readonly chosen: readonly Item[];
  readonly onDone: NonNullable<ActionProps['onDone']>;
}

/** What can be done with the chosen items, and which of them the last action skipped. */
export function Several({ chosen, onDone }: SeveralProps) {
  const skipped = useSignal<readonly Skipped[]>([]);
  const ids = chosen.map(({ id }) => id);
  const count = ids.length;
  const run = async (call: Promise<Answer>) => {
    const summaries = new Map(chosen.map(({ id, summary }) => [id, summary]));
    const { done, skipped: left } = await call;
    skipped.value = left.map(({ id, error }) => ({ id, error, summary: summaries.get(id) ?? id }));
    return { message: words.several(done.length, left.length), failed: left.length > 0 };
  };
  const shared = {
    role: 'operations',
    impossible: count > MOST ? words.tooMany(MOST) : undefined,
    onDone,
  } satisfies Partial<ActionProps>;
  return (
    <>
      {count === 0 && may('operations') ? (
        <p class="text-body-secondary mb-2">{words.select}</p>
      ) : (
        <div class="toolbar mb-2">
          <ActionButton
            {...shared}
            label={words.assignSeveral(count)}
            sentence={words.assignSentence(count)}
            fields={<AssigneeField />}
            run={(form) => {
              const assignee = textIn(form, 'assignee') || null;
              return run(answer(api.POST('/v1/admin/attention/assign', { body: { ids, assignee } })));
            }}
          />
          <ActionButton
            {...shared}
            label={words.snoozeSeveral(count)}
            sentence={words.snoozeSentence(count)}
            fields={<UntilField />}
            run={(form) => {
              const until = instantIn(form, 'until') ?? '';
              return run(answer(api.POST('/v1/admin/attention/snooze', { body: { ids, until } })));
            }}
          />
          <ActionButton
            {...shared}
            label={words.closeSeveral(count)}
            sentence={words.closeSentence(count)}
            reason="required"
            danger
            run={(_form, reason) =>
              run(answer(api.POST('/v1/admin/attention/close', { body: { ids, reason } })))
            }
          />
        </div>
      )}
      {skipped.value.length > 0 && (
        <Rows caption={words.skipped} columns={SKIPPED} rows={skipped.value} keyOf={({ id }) => id} />
      )}
    </>
  );
}

interface Skipped {
  readonly id: string;
  readonly summary: string;
  /** The service's reason. */
  readonly error: string;
}

const SKIPPED: readonly Column<Skipped>[] = [
  { title: words.what, cell: ({ id, summary }) => <a href={addressOf.attentionItem(id)}>{summary}</a> },
  { title: words.why, cell: ({ error }) => error },
];
