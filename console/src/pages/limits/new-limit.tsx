import { type Signal, useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { useEffect } from 'preact/hooks';
import { answerWithStatus, api } from '../../api/client.ts';
import { Problem } from '../../api/problem.ts';
import type { Schema } from '../../api/schemas.ts';
import { ActionButton } from '../../parts/actions/action.tsx';
import { InputField, textIn } from '../../parts/forms/form-field.tsx';
import { addressOf } from '../../parts/links/addresses.ts';
import { minorUnits } from '../../parts/values/major-units.ts';
import { amount, limits as words } from '../../strings.ts';
import { Amounts, LIMITS } from './amounts.tsx';

interface NewLimitProps {
  /** The limits on the page, of which the dialog says what it replaces. */
  readonly listed: readonly Schema<'LimitResponse'>[];
  readonly onDone: () => void;
}

/** Sets limits of an operator and currency. Those that are set already and not named here stay as they are. */
export function NewLimit({ listed, onDone }: NewLimitProps) {
  const { route } = useLocation();
  const typed = useSignal<FormData | undefined>(undefined);
  return (
    <ActionButton
      label={words.set}
      role="admin"
      sentence={<Amounts sentence={words.willSet} {...amountsTyped(listed, typed.value)} />}
      fields={<Fields typed={typed} />}
      run={async (form) => {
        const operatorId = textIn(form, 'operatorId');
        const currency = currencyIn(form);
        const params = { path: { operatorId, currency } };
        const body = amountsIn(form, currency);
        const { status, body: answered } = await answerWithStatus<unknown>(
          api.PATCH('/v1/admin/limits/{operatorId}/{currency}', { params, body }),
        );
        if (status === 202) return { approvalId: (answered as Schema<'ApprovalItem'>).approvalId };
        const address = addressOf.list('limits', { operatorId, currency });
        return { page: { title: words.of(operatorId, currency), address } };
      }}
      onDone={(outcome) => {
        if (outcome?.page) route(outcome.page.address);
        onDone();
      }}
    />
  );
}

/** @param typed follows what the dialog's form has; undefined if no dialog is open */
function Fields({ typed }: { readonly typed: Signal<FormData | undefined> }) {
  useEffect(() => () => void (typed.value = undefined), []);
  return (
    <div onInput={({ currentTarget }) => (typed.value = new FormData(currentTarget.closest('form')!))}>
      <InputField name="operatorId" label={words.operator} required hint={words.starHint} />
      <InputField
        name="currency"
        label={words.currency}
        required
        pattern="[A-Za-z]{3}"
        title={amount.invalidCurrency}
        maxLength={3}
      />
      {LIMITS.map((name) => (
        <InputField key={name} name={name} label={words.nameOf[name]} />
      ))}
    </div>
  );
}

const currencyIn = (form: FormData) => textIn(form, 'currency').toUpperCase();

/** What has been typed so far; a field that has no amount of the currency is left out. */
function amountsTyped(listed: NewLimitProps['listed'], form = new FormData()) {
  const [operatorId, currency] = [textIn(form, 'operatorId'), currencyIn(form)];
  const before = listed.find((limit) => limit.operatorId === operatorId && limit.currency === currency);
  const amounts = LIMITS.map((name) => [name, minorUnits(textIn(form, name), currency)] as const);
  return { currency, before, amounts: currency === '' ? {} : Object.fromEntries(amounts) };
}

/** @throws Problem if a field has no amount of the currency */
function amountsIn(form: FormData, currency: string): Schema<'PatchLimitRequest'> {
  const body: Schema<'PatchLimitRequest'> = {};
  for (const name of LIMITS) {
    const text = textIn(form, name);
    if (text === '') continue;
    const amountMinor = minorUnits(text, currency);
    if (amountMinor === undefined)
      throw Problem.ofForm(`${words.nameOf[name]}: ${words.notAmount(currency)}`);
    body[name] = amountMinor;
  }
  if (Object.keys(body).length === 0) throw Problem.ofForm(words.nothingSet);
  return body;
}
