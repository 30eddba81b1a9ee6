import { useRef } from 'preact/hooks';
import { getJson } from '../../api/client.ts';
import { may, type Me, me } from '../../api/session.ts';
import { InputField, SelectField, textIn } from '../../parts/forms/form-field.tsx';
import { useTitle } from '../../parts/links/page.ts';
import { Loaded } from '../../parts/reading/loaded.tsx';
import { useResource } from '../../parts/reading/resource.ts';
import { minorUnits } from '../../parts/values/major-units.ts';
import { action, sandbox as words } from '../../strings.ts';
import { ExchangeCard } from './exchange.tsx';
import { SandboxRound } from './round.ts';
import { canSign, type SandboxAccess } from './signed-calls.ts';

const CURRENCY = 'EUR';
const BET = '2.50';
const WIN = '4.00';

/** One round for each sign-in: a look at another page does not end it. */
const rounds = new WeakMap<Me, SandboxRound>();

function roundOf(person: Me): SandboxRound {
  const round = rounds.get(person) ?? new SandboxRound();
  rounds.set(person, round);
  return round;
}

export default function Sandbox() {
  useTitle(words.title);
  return (
    <>
      <h1 class="h4">{words.title}</h1>
      <p>{words.lead}</p>
      <Playground />
    </>
  );
}

function Playground() {
  if (!may('operations')) return <p>{action.needsRole('operations')}</p>;
  if (!canSign()) return <p>{words.cannotSign}</p>;
  return <Desk round={roundOf(me.value!)} />;
}

function Desk({ round }: { readonly round: SandboxRound }) {
  const access = useResource('sandbox', (signal) => getJson<SandboxAccess>('/console/sandbox.json', signal));
  return (
    <Loaded of={access}>
      {(tenants) => (
        <>
          <div class="grid">
            <Launch access={tenants} round={round} />
            <Steps access={tenants} round={round} />
          </div>
          <section aria-label={words.exchanges} aria-live="polite">
            {round.exchanges.value.length === 0 && <p class="text-body-secondary">{words.nothingYet}</p>}
            {round.exchanges.value.map((exchange) => (
              <ExchangeCard
                key={exchange.headers['X-Nonce']}
                exchange={exchange}
                providerId={tenants.provider.id}
              />
            ))}
          </section>
        </>
      )}
    </Loaded>
  );
}

interface PartProps {
  readonly access: SandboxAccess;
  readonly round: SandboxRound;
}

/** What an operator does: it launches the session of a player. */
function Launch({ access, round }: PartProps) {
  const launch = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const player = { playerRef: textIn(form, 'playerRef'), gameId: textIn(form, 'gameId') };
    void round.launch(access, { ...player, currency: CURRENCY });
  };
  return (
    <form class="card card-body" onSubmit={launch}>
      <h2 class="h6">{words.operatorPart}</h2>
      <InputField
        label={words.player}
        name="playerRef"
        defaultValue={round.session.value?.playerRef ?? round.suggestedPlayer}
        maxLength={128}
        required
      />
      <SelectField label={words.game} name="gameId">
        {access.games.map((game) => (
          <option key={game}>{game}</option>
        ))}
      </SelectField>
      <div>
        <button type="submit" class="btn btn-sm btn-primary" disabled={round.busy.value}>
          {words.launch}
        </button>
      </div>
    </form>
  );
}

/** What a provider does in the session. */
function Steps({ access, round }: PartProps) {
  const { session, bet, busy, exchanges, fault } = round;
  const needsSession = busy.value || !session.value;
  const needsBet = needsSession || !bet.value;
  return (
    <div class="card card-body">
      <h2 class="h6">{words.providerPart}</h2>
      <p>
        {session.value ? words.playing(session.value.playerRef, session.value.gameId) : words.launchFirst}
      </p>
      <SelectField
        label={words.fault}
        value={fault.value}
        onChange={({ currentTarget }) => (fault.value = currentTarget.value)}
      >
        <option value="">{words.noFault}</option>
        {access.faults.map(({ name, does }) => (
          <option key={name} value={name}>
            {name}: {does}
          </option>
        ))}
      </SelectField>
      <div class="steps">
        <AmountStep
          label={words.betAmount}
          amount={BET}
          step={words.bet}
          disabled={needsSession}
          submit={(minor) => round.submitBet(access, minor)}
        />
        <AmountStep
          label={words.winAmount}
          amount={WIN}
          step={words.win}
          disabled={needsBet}
          submit={(minor) => round.submitWin(access, minor)}
        />
      </div>
      <div class="toolbar mt-2">
        <Step label={words.verify} disabled={needsSession} onClick={() => round.verify(access)} />
        <Step label={words.balance} disabled={needsSession} onClick={() => round.balance(access)} />
        <Step label={words.rollback} disabled={needsBet} onClick={() => round.submitRollback(access)} />
        <Step
          label={words.repeat}
          disabled={busy.value || exchanges.value.length === 0}
          onClick={() => round.repeat()}
        />
      </div>
    </div>
  );
}

interface AmountStepProps {
  readonly label: string;
  readonly amount: string;
  readonly step: string;
  readonly disabled: boolean;
  readonly submit: (amountMinor: number) => Promise<void>;
}

function AmountStep({ label, amount, step, disabled, submit }: AmountStepProps) {
  const field = useRef<HTMLInputElement>(null);
  /** Submits the amount of the field, unless the browser shows what is wrong with it. */
  const submitTyped = async () => {
    const input = field.current!;
    const amountMinor = minorUnits(input.value, CURRENCY);
    input.setCustomValidity(amountMinor === undefined ? words.notAnAmount(CURRENCY) : '');
    if (input.reportValidity() && amountMinor !== undefined) await submit(amountMinor);
  };
  return (
    <>
      <InputField ref={field} label={label} inputMode="decimal" defaultValue={amount} />
      <Step label={step} disabled={disabled} onClick={submitTyped} />
    </>
  );
}

interface StepProps {
  readonly label: string;
  readonly disabled: boolean;
  readonly onClick: () => Promise<void>;
}

function Step({ label, disabled, onClick }: StepProps) {
  return (
    <button
      type="button"
      class="btn btn-sm btn-outline-primary"
      disabled={disabled}
      onClick={() => void onClick()}
    >
      {label}
    </button>
  );
}
