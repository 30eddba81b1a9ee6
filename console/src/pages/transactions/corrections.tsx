import { type Signal, useSignal } from '@preact/signals';
import { answer, api } from '../../api/client.ts';
import type { Schema } from '../../api/schemas.ts';
import { ActionButton } from '../../parts/actions/action.tsx';
import { AmountField } from '../../parts/forms/amount-field.tsx';
import { InputField, SelectField, textIn } from '../../parts/forms/form-field.tsx';
import { isUndecided } from '../../parts/lists/transaction-columns.tsx';
import { signedMinorUnits } from '../../parts/values/major-units.ts';
import { transactionMoney } from '../../parts/values/money.tsx';
import { transactions as words } from '../../strings.ts';

type Detail = Schema<'TransactionDetail'>;

interface CorrectionProps {
  readonly data: Detail;
  readonly onDone: () => void;
}

const pathOf = ({ providerId, transactionId }: Detail) => ({ path: { providerId, transactionId } });
const amountOf = ({ kind, amountMinor, currency }: Detail) => transactionMoney(kind, amountMinor, currency);

/** Does at once what the resolver would do later. */
export function ResolveButton({ data, onDone }: CorrectionProps) {
  const run = async () => {
    const { state, advice } = await answer(
      api.POST('/v1/admin/transactions/{providerId}/{transactionId}/resolve', { params: pathOf(data) }),
    );
    const failed = isUndecided(state);
    return { message: failed ? words.stillUndecided(state, advice.text) : words.resolved(state), failed };
  };
  return (
    <ActionButton
      label={words.resolve}
      role="operations"
      sentence={resolveSentence(data)}
      impossible={isInFlight(data) ? words.inFlight : undefined}
      run={run}
      onDone={onDone}
    />
  );
}

function isInFlight({ state, attempts }: Detail): boolean {
  return state === 'PENDING' && attempts.at(-1)?.outcome === 'IN_FLIGHT';
}

function resolveSentence(data: Detail): string {
  const { kind, verdict, rollback, rollbackId } = data;
  const amount = amountOf(data);
  if (verdict !== undefined) return words.resolvingReadsBalance;
  if (rollback !== null && rollback.transactionId === rollbackId && isUndecided(rollback.state))
    return words.resolvingSendsRollback(rollback.transactionId, amount);
  if (kind === 'BET') return words.resolvingRollsBack(amount);
  return words.resolvingSendsAgain(kind ?? '', amount);
}

type Verdict = 'APPROVED' | 'DECLINED';

/** Asks for the approval of an answer that the operator gave by other means than its wallet. */
export function SettleButton({ data, onDone }: CorrectionProps) {
  const status = useSignal<Verdict>(data.verdict ?? 'APPROVED');
  const balance = useSignal('');
  const run = async (form: FormData, reason: string) => {
    const balanceMinor = signedMinorUnits(balance.value, data.currency);
    const body = {
      status: status.value,
      ...(balanceMinor !== undefined && { balance: balanceMinor }),
      operatorReference: textIn(form, 'operatorReference'),
      reason,
    };
    const { approvalId } = await answer(
      api.POST('/v1/admin/transactions/{providerId}/{transactionId}/settle', { params: pathOf(data), body }),
    );
    return { approvalId };
  };
  return (
    <ActionButton
      label={words.settle}
      role="operations"
      sentence={<SettleSentence data={data} status={status} />}
      fields={<SettleFields data={data} status={status} balance={balance} />}
      reason="required"
      impossible={settleObstacle(data)}
      run={run}
      onDone={onDone}
    />
  );
}

function settleObstacle({ parkedAt, rollbackId }: Detail): string | undefined {
  if (rollbackId !== undefined) return words.settleTheRollback(rollbackId);
  return parkedAt === undefined ? words.notParked : undefined;
}

function SettleSentence({ data, status }: { readonly data: Detail; readonly status: Signal<Verdict> }) {
  const sentence = status.value === 'APPROVED' ? words.settlesAsApproved : words.settlesAsDeclined;
  return <>{sentence(data.kind ?? '', amountOf(data))}</>;
}

interface SettleFieldsProps {
  readonly data: Detail;
  readonly status: Signal<Verdict>;
  readonly balance: Signal<string>;
}

function SettleFields({ data, status, balance }: SettleFieldsProps) {
  return (
    <>
      <SelectField
        label={words.operatorSays}
        value={status.value}
        disabled={data.verdict !== undefined}
        onChange={({ currentTarget }) => (status.value = currentTarget.value as Verdict)}
      >
        <option value="APPROVED">{words.operatorBooked}</option>
        <option value="DECLINED">{words.operatorDidNotBook}</option>
      </SelectField>
      <InputField label={words.operatorReference} name="operatorReference" required maxLength={200} />
      <AmountField
        label={words.balanceIn(data.currency)}
        text={balance}
        currency={data.currency}
        signed
        hint={words.balanceHint}
      />
    </>
  );
}
