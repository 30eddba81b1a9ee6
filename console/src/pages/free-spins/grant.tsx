import { useRoute } from 'preact-iso';
import { answer, api } from '../../api/client.ts';
import type { Schema } from '../../api/schemas.ts';
import { ActionButton } from '../../parts/actions/action.tsx';
import { isMissing, Missing } from '../../parts/frame/missing.tsx';
import { addressOf } from '../../parts/links/addresses.ts';
import { IdLink } from '../../parts/links/id-link.tsx';
import { useTitle } from '../../parts/links/page.ts';
import {
  gameLink,
  grantLink,
  operatorLink,
  playerLink,
  providerLink,
} from '../../parts/links/record-links.tsx';
import { CALLBACK_COLUMNS, callbackKey } from '../../parts/lists/callback-columns.tsx';
import { Rows } from '../../parts/lists/data-table.tsx';
import { Loaded } from '../../parts/reading/loaded.tsx';
import { useResource, WITH_OVERVIEW } from '../../parts/reading/resource.ts';
import { Details } from '../../parts/values/details.tsx';
import { moneyText } from '../../parts/values/money.tsx';
import { cancelledText, Stake, stakeText } from '../../parts/values/stake.tsx';
import { Time, TimeAndLeft } from '../../parts/values/time.tsx';
import { freeSpins as words } from '../../strings.ts';
import { GrantState, problemOfGrant } from './grant-table.tsx';

type Grant = Schema<'DetailedGrantResponse'>;

/** Most attempts that the page of a grant shows; the list of callbacks has all. */
const CALLBACKS = 100;

export default function GrantPage() {
  const { requestRef = '' } = useRoute().params;
  useTitle(requestRef);
  const grant = useResource(
    requestRef,
    (signal) =>
      answer(api.GET('/v1/admin/free-spins/{requestRef}', { params: { path: { requestRef } }, signal })),
    WITH_OVERVIEW,
  );
  const callbacks = useResource(
    `${requestRef} callbacks`,
    (signal) =>
      answer(
        api.GET('/v1/admin/callbacks', {
          params: { query: { reference: requestRef, limit: CALLBACKS } },
          signal,
        }),
      ),
    WITH_OVERVIEW,
  );
  const reload = () => {
    grant.reload();
    callbacks.reload();
  };
  if (isMissing(grant)) return <Missing kind="grant" />;
  return (
    <>
      <h1 class="h4">
        {words.grant} <span class="id fs-6">{requestRef}</span>
      </h1>
      <Loaded of={grant}>{(data) => <Whole grant={data} onDone={reload} />}</Loaded>
      <Loaded of={callbacks}>
        {({ items }) => (
          <Rows
            caption={words.callbacks}
            columns={CALLBACK_COLUMNS}
            rows={items}
            keyOf={callbackKey}
            empty={words.noCallbacks}
          />
        )}
      </Loaded>
    </>
  );
}

interface WholeProps {
  readonly grant: Grant;
  readonly onDone: () => void;
}

function Whole({ grant, onDone }: WholeProps) {
  const { state, spins, betAmountMinor, stakeMinor, currency, winnings, externalRef, duplicateOf } = grant;
  const { batchId, remainingSpins, statusCheckedAt } = grant;
  const problem = problemOfGrant(grant);
  return (
    <>
      <p class="fs-5">
        <GrantState state={state} /> {termsOf(grant)}
      </p>
      {problem !== undefined && <p class="alert alert-warning">{problem}</p>}
      <Actions grant={grant} onDone={onDone} />
      <Details
        items={[
          [words.stake, stakeMinor !== undefined && <Stake minor={stakeMinor} currency={currency} />],
          [words.spins, spins],
          [words.perSpin, betAmountMinor === 0 ? words.defaultStake : moneyText(betAmountMinor, currency)],
          [words.winnings, winningsOf(winnings, currency)],
          [words.remaining, remainingSpins],
          [words.checked, statusCheckedAt && <Time at={statusCheckedAt} />],
          [words.player, playerLink(grant)],
          [words.operator, operatorLink(grant)],
          [words.provider, providerLink(grant)],
          [words.game, gameLink(grant)],
          [words.batch, batchId && <IdLink id={batchId} href={addressOf.batch(batchId)} />],
          [words.externalRef, externalRef && <IdLink id={externalRef} />],
          [words.duplicateOf, duplicateOf && grantLink({ requestRef: duplicateOf })],
          [words.created, <Time at={grant.createdAt} />],
          [words.updated, <Time at={grant.updatedAt} />],
          [words.expires, grant.expiresAt && <TimeAndLeft until={grant.expiresAt} />],
        ]}
      />
    </>
  );
}

function winningsOf({ count, totalMinor, flagged }: Grant['winnings'], currency: string): string {
  const total = totalMinor === undefined ? undefined : moneyText(totalMinor, currency);
  return words.winningsOf(count, total, flagged);
}

function termsOf({ spins, betAmountMinor, currency, playerRef, gameId }: Grant): string {
  const stake = betAmountMinor === 0 ? words.defaultStake : moneyText(betAmountMinor, currency);
  return words.terms(spins, stake, playerRef, gameId);
}

/** What can be done with a grant. A refusal by the provider changes the grant, too, so it is always read again. */
function Actions({ grant, onDone }: WholeProps) {
  const { requestRef, state, failure, spins, betAmountMinor, currency, duplicateOf } = grant;
  const { remainingSpins = spins, completed } = grant;
  const params = { path: { requestRef } };
  const what = termsOf(grant);
  const money = stakeText(BigInt(spins) * BigInt(betAmountMinor), currency);
  const cancelled = cancelledText(completed ? 0 : remainingSpins, betAmountMinor, currency);
  const then = async <T,>(call: Promise<T>): Promise<T> => {
    try {
      return await call;
    } finally {
      onDone();
    }
  };
  const send = async (action: 'cancel' | 'resend' | 'void'): Promise<undefined> => {
    await then(answer(api.POST(`/v1/admin/free-spins/{requestRef}/${action}`, { params })));
  };
  return (
    <div class="toolbar mb-3">
      <ActionButton
        label={words.status}
        role="support"
        sentence={words.statusSentence(what)}
        impossible={grant.externalRef === undefined ? words.notGranted : undefined}
        run={async () => {
          const call = api.POST('/v1/admin/free-spins/{requestRef}/status', { params });
          const { remainingSpins, completed } = await then(answer(call));
          return { message: words.statusOf(remainingSpins, completed) };
        }}
      />
      <ActionButton
        label={words.cancel}
        role="promotions"
        danger
        sentence={words.cancelSentence(what, cancelled, duplicateOf)}
        impossible={state === 'GRANTED' ? undefined : words.onlyGranted}
        run={() => send('cancel')}
      />
      <ActionButton
        label={words.resend}
        role="promotions"
        sentence={words.resendSentence(what, money)}
        impossible={state === 'FAILED' ? undefined : words.onlyFailed}
        run={() => send('resend')}
      />
      <ActionButton
        label={words.void}
        role="promotions"
        danger
        sentence={words.voidSentence(what, cancelled)}
        impossible={failure?.outcomeUnknown ? undefined : words.onlyUnknown}
        run={() => send('void')}
      />
    </div>
  );
}
