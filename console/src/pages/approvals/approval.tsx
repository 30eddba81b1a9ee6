import { useRoute } from 'preact-iso';
import type { ComponentChildren } from 'preact';
import { answer, api } from '../../api/client.ts';
import type { Schema } from '../../api/schemas.ts';
import { me } from '../../api/session.ts';
import { ActionButton } from '../../parts/actions/action.tsx';
import { isMissing, Missing } from '../../parts/frame/missing.tsx';
import { IdLink } from '../../parts/links/id-link.tsx';
import { useTitle } from '../../parts/links/page.ts';
import { operatorLink } from '../../parts/links/record-links.tsx';
import { Loaded } from '../../parts/reading/loaded.tsx';
import { type Resource, useResource } from '../../parts/reading/resource.ts';
import { Details } from '../../parts/values/details.tsx';
import { JsonView } from '../../parts/values/json-view.tsx';
import { moneyText } from '../../parts/values/money.tsx';
import { Left, Time, TimeAndAgo } from '../../parts/values/time.tsx';
import { approvals as words, edit, freeSpins } from '../../strings.ts';
import { ApprovalState } from './approval-state.tsx';
import { Changes, changesOf } from './changes.tsx';
import { amountText, failureOf, mayStillChange, outcomePage, ROLE_OF } from './kinds.ts';

type Approval = Schema<'ApprovalResponse'>;

export default function ApprovalPage() {
  const { id = '' } = useRoute().params;
  useTitle(words.one);
  const approval: Resource<Approval> = useResource<Approval>(
    id,
    (signal) =>
      answer(api.GET('/v1/admin/approvals/{approvalId}', { params: { path: { approvalId: id } }, signal })),
    {
      on: {
        approval: ({ approvalId }) => approvalId === id,
        overview: () => approval.data.value !== undefined && mayStillChange(approval.data.value),
      },
    },
  );
  if (isMissing(approval)) return <Missing kind="approval" />;
  return (
    <>
      <h1 class="h4">{words.one}</h1>
      <Loaded of={approval}>{(data) => <Whole approval={data} of={approval} />}</Loaded>
    </>
  );
}

interface WholeProps {
  readonly approval: Approval;
  readonly of: Resource<Approval>;
}

function Whole({ approval, of }: WholeProps) {
  const { kind, summary, state, reference, terms, result } = approval;
  const { askedBy, askedByName, createdAt, expiresAt, decidedBy, decidedByName, decidedAt, reason } =
    approval;
  const page = outcomePage(approval);
  const failure = failureOf(approval);
  return (
    <>
      <p class="fs-5">
        <ApprovalState approval={approval} /> {summary}
      </p>
      {state === 'WAITING' && <Decision approval={approval} onDone={of.reload} />}
      {failure !== undefined && <div class="alert alert-danger">{failure}</div>}
      <Why approval={approval} />
      <Changes approval={approval} />
      <Details
        items={[
          [words.kind, words.kindOf[kind]],
          [words.amount, amountText(approval, freeSpins.unknownAmount)],
          [words.operator, operatorLink(approval)],
          [words.reference, <IdLink id={reference} href={page} />],
          [words.requestedBy, <PersonWithId name={askedByName} actor={askedBy} />],
          [words.requested, <TimeAndAgo at={createdAt} />],
          [words.expires, state === 'WAITING' && <Left until={expiresAt} />],
          [words.decidedBy, decidedBy && <PersonWithId name={decidedByName} actor={decidedBy} />],
          [words.decidedAt, decidedAt && <Time at={decidedAt} />],
          [words.reason, reason],
          [words.outcome, page && result && <a href={page}>{words.openOutcome[kind]}</a>],
        ]}
      />
      <JsonView name={words.terms} value={terms} />
      {result && <JsonView name={words.result} value={result} />}
    </>
  );
}

/** The buttons of a request that waits. The requester may only withdraw it. */
function Decision({ approval, onDone }: { readonly approval: Approval; readonly onDone: () => void }) {
  const { approvalId, kind, summary } = approval;
  const own = approval.askedBy === me.value?.actor;
  const params = { path: { approvalId } };
  return (
    <div class="toolbar mb-3">
      <ActionButton
        label={words.approve}
        role={ROLE_OF[kind]}
        sentence={
          <span class="changes">
            <span>{words.approveSentence(summary, amountText(approval))}</span>
            {changesOf(approval)
              .filter(({ before, after }) => before !== after)
              .map(({ what, before, after }) => (
                <span key={what}>{edit.change(what, before, after)}</span>
              ))}
          </span>
        }
        impossible={own ? words.own : undefined}
        run={async () => {
          const approved = await answer(api.POST('/v1/admin/approvals/{approvalId}/approve', { params }));
          const failure = failureOf(approved);
          // The answer to a batch comes before its grants are sent.
          const approvedText = kind === 'batch' ? words.approvedBatch : words.approved;
          return { message: failure ?? approvedText, failed: failure !== undefined };
        }}
        onDone={onDone}
      />
      <ActionButton
        label={own ? words.withdraw : words.reject}
        role={own ? 'support' : ROLE_OF[kind]}
        sentence={own ? words.withdrawSentence(summary) : words.rejectSentence(summary)}
        reason="required"
        danger
        run={async (_form, reason) => {
          await answer(api.POST('/v1/admin/approvals/{approvalId}/reject', { params, body: { reason } }));
          return { message: own ? words.withdrawn : words.rejected };
        }}
        onDone={onDone}
      />
    </div>
  );
}

/** Why a second person must decide. */
function Why({ approval: { kind, limit, currency } }: { readonly approval: Approval }) {
  if (!limit) return <p>{words.always[kind]}</p>;
  const { name, limitMinor } = limit;
  return <p>{words.exceeds(name, moneyText(limitMinor, currency))}</p>;
}

interface PersonProps {
  readonly name: string | undefined;
  readonly actor: string | undefined;
}

function PersonWithId({ name, actor }: PersonProps): ComponentChildren {
  if (actor === undefined) return name;
  return (
    <>
      {name} <IdLink id={actor} />
    </>
  );
}
