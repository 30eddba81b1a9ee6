import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { answerWithStatus, api } from '../../api/client.ts';
import { Problem } from '../../api/problem.ts';
import type { Schema } from '../../api/schemas.ts';
import { forgetUnfinished, keepUnfinished, type Unfinished, unfinishedOf } from '../../api/unfinished.ts';
import { adjustment as words } from '../../strings.ts';
import { AmountField } from '../forms/amount-field.tsx';
import { InputField, SelectField } from '../forms/form-field.tsx';
import { isCurrency, majorUnits, minorUnits } from '../values/major-units.ts';
import { moneyText } from '../values/money.tsx';
import { ActionButton } from './action.tsx';
import type { Outcome } from './notice.tsx';
import { randomId } from './random-id.ts';

interface AdjustmentProps {
  readonly operatorId: string;
  readonly playerRef: string;
  /** What the form has at first. */
  readonly currency?: string | undefined;
  readonly amountMinor?: number | undefined;
  readonly reason?: string;
  readonly onDone: () => void;
}

type Direction = 'credit' | 'debit';

interface Draft {
  readonly direction: Signal<Direction>;
  readonly amount: Signal<string>;
  readonly currency: Signal<string>;
  readonly adjustmentId: Signal<string>;
  /** What the field for the reason has at first. */
  readonly reason: Signal<string>;
}

/** Asks for an adjustment of a player's balance. Above a limit it waits for the approval of a second person. */
export function AdjustmentButton(props: AdjustmentProps) {
  const { operatorId, playerRef, currency = '', amountMinor, reason: suggestedReason = '', onDone } = props;
  const unfinished = useSignal(unfinishedOf(operatorId, playerRef));
  const proposed = amountMinor === undefined ? '' : majorUnits(Math.abs(amountMinor), currency);
  const kept = unfinished.value;
  const draft: Draft = {
    direction: useSignal<Direction>(kept?.direction ?? 'credit'),
    amount: useSignal(kept?.amount ?? proposed),
    currency: useSignal(kept?.currency ?? currency),
    // Kept until the adjustment is done: after a failure, the same id cannot be booked twice.
    adjustmentId: useSignal(kept?.adjustmentId ?? newAdjustmentId()),
    reason: useSignal(kept?.reason ?? suggestedReason),
  };
  /** Fills the form with an unfinished adjustment; without one, it is empty for another one in the same currency. */
  const fill = (filling: Unfinished | undefined) => {
    draft.direction.value = filling?.direction ?? 'credit';
    draft.amount.value = filling?.amount ?? '';
    draft.currency.value = filling?.currency ?? draft.currency.value;
    draft.adjustmentId.value = filling?.adjustmentId ?? newAdjustmentId();
    draft.reason.value = filling?.reason ?? suggestedReason;
  };
  // The page may learn the player's currency after the dialog was opened.
  useEffect(() => {
    if (draft.currency.value === '') draft.currency.value = currency;
  }, [currency]);
  const run = async (_form: FormData, reason: string): Promise<Outcome> => {
    const adjustmentId = draft.adjustmentId.value.trim();
    const body = {
      adjustmentId,
      operatorId,
      playerRef,
      currency: draft.currency.value,
      amountMinor: signedAmount(draft) ?? 0,
      reason,
    };
    const { direction, amount } = draft;
    draft.reason.value = reason;
    const earlier = unfinishedOf(operatorId, playerRef);
    const repeated = earlier?.adjustmentId === adjustmentId;
    /** Keeps what was kept before this one: its outcome is as unknown as it was. */
    const restore = () => {
      if (earlier) keepUnfinished(operatorId, playerRef, earlier);
      else forgetUnfinished(operatorId, playerRef, adjustmentId);
    };
    // Before it is sent: the page may be left while the answer is awaited.
    keepUnfinished(operatorId, playerRef, {
      adjustmentId,
      direction: direction.value,
      amount: amount.value,
      currency: draft.currency.value,
      reason,
    });
    try {
      const answered = await answerWithStatus(api.POST('/v1/admin/adjustments', { body }));
      if (repeated) forgetUnfinished(operatorId, playerRef, adjustmentId);
      else restore();
      fill(unfinishedOf(operatorId, playerRef));
      return outcomeOf(answered.body);
    } catch (error) {
      if (error instanceof Problem && error.isRefusal) {
        restore();
        // The service knows the id with the earlier terms: only those can be sent again.
        if (repeated) fill(earlier);
      }
      throw error;
    } finally {
      unfinished.value = unfinishedOf(operatorId, playerRef);
    }
  };
  return (
    <ActionButton
      label={words.label}
      role="operations"
      ifUnknown={words.adjustmentIdHint}
      sentence={
        <>
          {kept && <strong class="alarm">{words.unfinished(kept.adjustmentId)} </strong>}
          <Sentence draft={draft} operatorId={operatorId} playerRef={playerRef} />
        </>
      }
      fields={<Fields draft={draft} />}
      reason="required"
      suggestedReason={draft.reason.value}
      run={run}
      onDone={onDone}
    />
  );
}

function Sentence({ draft, operatorId, playerRef }: { draft: Draft; operatorId: string; playerRef: string }) {
  const currency = draft.currency.value;
  const size = minorUnits(draft.amount.value, currency);
  if (!size || !isCurrency(currency)) return <>{words.incomplete}</>;
  const sentence = draft.direction.value === 'credit' ? words.credits : words.debits;
  return (
    <>
      <strong>{sentence(moneyText(size, currency), playerRef, operatorId)}</strong> {words.approval}
    </>
  );
}

function Fields({ draft }: { readonly draft: Draft }) {
  const { direction, amount, currency, adjustmentId } = draft;
  return (
    <>
      <div class="row g-2">
        <div class="col-sm-4">
          <SelectField
            label={words.direction}
            value={direction.value}
            onChange={({ currentTarget }) => (direction.value = currentTarget.value as Direction)}
          >
            <option value="credit">{words.credit}</option>
            <option value="debit">{words.debit}</option>
          </SelectField>
        </div>
        <div class="col-sm-4">
          <AmountField label={words.amount} text={amount} currency={currency.value} minimum={1} required />
        </div>
        <div class="col-sm-4">
          <InputField
            label={words.currency}
            value={currency.value}
            required
            pattern="[A-Z]{3}"
            maxLength={3}
            onInput={({ currentTarget }) => (currency.value = currentTarget.value.toUpperCase())}
          />
        </div>
      </div>
      <InputField
        label={words.adjustmentId}
        hint={words.adjustmentIdHint}
        value={adjustmentId.value}
        required
        maxLength={128}
        onInput={({ currentTarget }) => (adjustmentId.value = currentTarget.value)}
      />
    </>
  );
}

function signedAmount({ direction, amount, currency }: Draft): number | undefined {
  const size = minorUnits(amount.value, currency.value);
  return size !== undefined && direction.value === 'debit' ? -size : size;
}

function outcomeOf(answered: Schema<'AdjustmentResponse'> | Schema<'ApprovalItem'>): Outcome {
  if ('approvalId' in answered) return { approvalId: answered.approvalId };
  const { status, amountMinor, currency, balance, declineReason } = answered;
  const amount = moneyText(Math.abs(amountMinor), currency);
  if (status === 'DECLINED') return { message: words.declined(amount, declineReason ?? ''), failed: true };
  const sentence = amountMinor < 0 ? words.debited : words.credited;
  return { message: sentence(amount, moneyText(balance, currency)) };
}

const newAdjustmentId = () => randomId('adjustment', 8);
