import { useLocation } from 'preact-iso';
import { useRef } from 'preact/hooks';
import { answerWithStatus, api } from '../../api/client.ts';
import { Problem } from '../../api/problem.ts';
import type { Schema } from '../../api/schemas.ts';
import { ActionButton } from '../../parts/action.tsx';
import { addressOf } from '../../parts/addresses.ts';
import { FormField, textIn } from '../../parts/form-field.tsx';
import { minorUnits } from '../../parts/major-units.ts';
import { limits as words } from '../../strings.ts';
import { LIMITS } from './limit-names.ts';

/** Sets limits of an operator and currency. Those that are set already and not named here stay as they are. */
export function NewLimit({ onDone }: { readonly onDone: () => void }) {
  const { route } = useLocation();
  const page = useRef<string | undefined>(undefined);
  return (
    <ActionButton
      label={words.set}
      role="admin"
      sentence={words.willSet}
      fields={
        <>
          <FormField name="operatorId" label={words.operator} required hint={words.starHint} />
          <FormField name="currency" label={words.currency} required />
          {LIMITS.map((name) => (
            <FormField key={name} name={name} label={words.nameOf[name]} />
          ))}
        </>
      }
      run={async (form) => {
        const operatorId = textIn(form, 'operatorId');
        const currency = textIn(form, 'currency').toUpperCase();
        const params = { path: { operatorId, currency } };
        const body = amountsIn(form, currency);
        const { status, body: answered } = await answerWithStatus<unknown>(
          api.PATCH('/v1/admin/limits/{operatorId}/{currency}', { params, body }),
        );
        page.current = undefined;
        if (status === 202) return { approvalId: (answered as Schema<'ApprovalItem'>).approvalId };
        page.current = addressOf.list('limits', { operatorId, currency });
        return undefined;
      }}
      onDone={() => {
        if (page.current !== undefined) route(page.current);
        onDone();
      }}
    />
  );
}

/** @throws Problem if a field has no amount of the currency */
function amountsIn(form: FormData, currency: string): Schema<'PatchLimitRequest'> {
  const body: Schema<'PatchLimitRequest'> = {};
  for (const name of LIMITS) {
    const text = textIn(form, name);
    if (text === '') continue;
    const amount = minorUnits(text, currency);
    if (amount === undefined) throw Problem.ofForm(`${words.nameOf[name]}: ${words.notAmount(currency)}`);
    body[name] = amount;
  }
  if (Object.keys(body).length === 0) throw Problem.ofForm(words.nothingSet);
  return body;
}
