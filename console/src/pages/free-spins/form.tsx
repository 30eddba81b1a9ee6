import type { Signal } from '@preact/signals';
import type { ComponentProps } from 'preact';
import { useLocation } from 'preact-iso';
import { answer, answerWithStatus, api } from '../../api/client.ts';
import { Problem } from '../../api/problem.ts';
import type { Schema } from '../../api/schemas.ts';
import { may } from '../../api/session.ts';
import { ActionButton } from '../../parts/actions/action.tsx';
import type { Outcome } from '../../parts/actions/notice.tsx';
import { InputField } from '../../parts/forms/form-field.tsx';
import { useEdited } from '../../parts/forms/unsaved.ts';
import { addressOf } from '../../parts/links/addresses.ts';
import { useTitle } from '../../parts/links/page.ts';
import { moneyText } from '../../parts/values/money.tsx';
import { stakeText } from '../../parts/values/stake.tsx';
import { timeText } from '../../parts/values/time.tsx';
import { action, freeSpins as words } from '../../strings.ts';
import { type Kind, refNameOf, useGrantInput } from './grant-input.ts';
import { BATCHES, GRANTS } from './heading.tsx';
import { PlayersField } from './players-field.tsx';
import { Preview, usePreview } from './preview.tsx';

/** Grants free spins to one player or to many. */
export function GrantForm({ kind }: { readonly kind: Kind }) {
  const { route } = useLocation();
  const title = kind === 'grant' ? words.newGrant : words.newBatch;
  useTitle(title);
  const input = useGrantInput(kind);
  const edited = useEdited();
  const { fields, players, grant, batch, count, obstacle } = input;
  const { spins, betAmountMinor, currency, playerRef, gameId, expiresAt } = grant;
  const body = kind === 'grant' ? grant : batch;
  const preview = usePreview(
    obstacle === undefined && may('promotions') ? JSON.stringify(body) : undefined,
    (signal) =>
      kind === 'grant'
        ? answer(api.POST('/v1/admin/free-spins/preview', { body: grant, signal }))
        : answer(api.POST('/v1/admin/free-spins/batches/preview', { body: batch, signal })),
  );
  const shown = preview.data.value;
  const stake = shown ? stakeText(shown.stakeMinor, shown.currency) : '';
  const stakeOfSpin = betAmountMinor === 0 ? words.defaultStake : moneyText(betAmountMinor, currency);
  const what =
    kind === 'grant'
      ? words.terms(spins, stakeOfSpin, playerRef, gameId)
      : words.batchTerms(spins, stakeOfSpin, count, gameId);
  const expiry = words.expiry(expiresAt === undefined ? undefined : timeText(expiresAt));
  return (
    <>
      <h1 class="h4">{title}</h1>
      <form
        class="narrow"
        aria-label={title}
        onInput={() => (edited.value = true)}
        onSubmit={(event) => event.preventDefault()}
      >
        <div class="grid gap-2 mb-2">
          <Field label={words.operator} value={fields.operatorId} />
          <Field label={words.game} value={fields.gameId} />
          {kind === 'grant' && <Field label={words.player} value={fields.playerRef} />}
          <Field label={words.spinsEach} value={fields.spins} type="number" wrong={input.wrong.spins} />
          <Field
            label={words.stakePerSpin}
            value={fields.stake}
            hint={words.stakeHint}
            wrong={input.wrong.stake}
          />
          <Field label={words.currency} value={fields.currency} wrong={input.wrong.currency} />
          <Field
            label={words.expiresAt}
            value={fields.expiresAt}
            type="datetime-local"
            // Free spins end at a full minute, so nobody has to type seconds.
            step={60}
            hint={words.expiresAtHint}
            wrong={input.wrong.expiry}
            valid={input.expiryIsValid}
          />
          <Field label={words[refNameOf(kind)]} value={input.ref} hint={words.refHint} />
        </div>
        {kind === 'batch' && <PlayersField of={players} />}
        <Preview of={preview} expiry={expiry} />
        <ActionButton
          label={kind === 'grant' ? words.sendGrant : words.sendBatch(count)}
          role="promotions"
          sentence={words.sendSentence(what, stake, expiry, shown?.requires === 'approval')}
          impossible={
            obstacle ?? (shown ? undefined : preview.problem.value ? words.previewFailed : words.noPreview)
          }
          ifUnknown={words.sendUnchanged}
          run={() => (kind === 'grant' ? sendGrant(grant) : sendBatch(batch))}
          onDone={(outcome) => {
            // The dialog was left, and more may have been typed since.
            if (!outcome) return;
            edited.value = false;
            if (outcome.page) route(outcome.page.address);
          }}
        />{' '}
        <a href={kind === 'grant' ? GRANTS : BATCHES}>{words.backToList}</a>
      </form>
    </>
  );
}

async function sendGrant(
  body: Schema<'AdminGrantRequest'> & { readonly requestRef: string },
): Promise<Outcome> {
  const { requestRef } = body;
  const page = { title: `${words.grant} ${requestRef}`, address: addressOf.grant(requestRef) };
  try {
    const { status, body: sent } = await answerWithStatus(api.POST('/v1/admin/free-spins', { body }));
    if ('approvalId' in sent) return { approvalId: sent.approvalId };
    return status === 200
      ? { page, message: words.repeated(requestRef, timeText(sent.createdAt)) }
      : { page };
  } catch (error) {
    // The grant is stored as FAILED: its page says why, and what can be done.
    if (!(error instanceof Problem) || error.code !== 'PROVIDER_FAILED') throw error;
    return { page, message: action.notDone(words.sendGrant, error.message), failed: true };
  }
}

async function sendBatch(
  body: Schema<'AdminBatchRequest'> & { readonly batchRef: string },
): Promise<Outcome> {
  const call = api.POST('/v1/admin/free-spins/batches', { body });
  const { status, body: sent } = await answerWithStatus(call);
  if ('approvalId' in sent) return { approvalId: sent.approvalId };
  const page = { title: `${words.batch} ${body.batchRef}`, address: addressOf.batch(sent.batchId) };
  return { page, message: status === 200 ? words.repeated(body.batchRef) : words.sendingBatch };
}

interface FieldProps extends Omit<ComponentProps<typeof InputField>, 'value'> {
  readonly value: Signal<string>;
  /** Gets the browser's judgement of what was typed. */
  readonly valid?: Signal<boolean>;
}

function Field({ value, valid, ...field }: FieldProps) {
  const read = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
    value.value = currentTarget.value;
    if (valid) valid.value = currentTarget.validity.valid;
  };
  // A part of a time that is typed changes no value, so that there is no event `input`.
  return <InputField {...field} value={value.value} onInput={read} onKeyUp={read} onBlur={read} />;
}
