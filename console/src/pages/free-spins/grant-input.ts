import { type Signal, useSignal } from '@preact/signals';
import { randomId } from '../../parts/actions/random-id.ts';
import { instantOf } from '../../parts/forms/local-time.ts';
import { withQuery } from '../../parts/links/addresses.ts';
import { usePage, useRedirect } from '../../parts/links/page.ts';
import { isCurrency, minorUnits } from '../../parts/values/major-units.ts';
import { amount, freeSpins as words, time } from '../../strings.ts';
import { usePlayers } from './players-field.tsx';

/** Most spins that the API takes for a player. */
const MAX_SPINS = 1_000;

export type Kind = 'grant' | 'batch';

/** What was typed into the form of a grant or of a batch, and the bodies that it makes. */
export function useGrantInput(kind: Kind) {
  const { query } = usePage();
  const ref = useReference(kind);
  const fields = {
    operatorId: useSignal(query['operatorId'] ?? ''),
    gameId: useSignal(query['gameId'] ?? ''),
    playerRef: useSignal(query['playerRef'] ?? ''),
    spins: useSignal(''),
    currency: useSignal('EUR'),
    stake: useSignal(''),
    expiresAt: useSignal(''),
  };
  const players = usePlayers();
  // The browser gives no text for an incomplete time; only its judgement tells that something was typed.
  const expiryIsValid = useSignal(true);
  const text = (field: keyof typeof fields) => fields[field].value.trim();
  const currency = text('currency').toUpperCase();
  const wrongCurrency = isCurrency(currency) ? undefined : amount.invalidCurrency;
  const spins = Number(text('spins'));
  const wrongSpins =
    text('spins') === '' || (Number.isInteger(spins) && spins >= 1 && spins <= MAX_SPINS)
      ? undefined
      : words.wrongSpins(MAX_SPINS);
  const betAmountMinor = minorUnits(text('stake'), currency);
  const wrongStake =
    wrongCurrency === undefined && text('stake') !== '' && betAmountMinor === undefined
      ? words.noAmount(currency)
      : undefined;
  const expiresAt = instantOf(text('expiresAt'));
  const wrongExpiry =
    expiryIsValid.value && (text('expiresAt') === '' || expiresAt !== undefined) ? undefined : time.invalid;
  const shared = {
    operatorId: text('operatorId'),
    gameId: text('gameId'),
    spins,
    betAmountMinor: betAmountMinor ?? 0,
    currency,
    ...(expiresAt !== undefined && { expiresAt }),
  };
  const grant = { ...shared, playerRef: text('playerRef'), requestRef: ref.value.trim() };
  const batch = { ...shared, playerRefs: players.players.value, batchRef: ref.value.trim() };
  const count = kind === 'grant' ? 1 : batch.playerRefs.length;
  const missing =
    shared.operatorId === '' ||
    shared.gameId === '' ||
    text('spins') === '' ||
    betAmountMinor === undefined ||
    (kind === 'grant' ? grant.playerRef === '' : count === 0);
  /** Why the form cannot be sent; undefined if it can. */
  const obstacle =
    (kind === 'batch' ? players.obstacle.value : undefined) ??
    wrongSpins ??
    wrongCurrency ??
    wrongExpiry ??
    (missing ? words.incomplete : undefined);
  const wrong = { spins: wrongSpins, stake: wrongStake, currency: wrongCurrency, expiry: wrongExpiry };
  return { ref, fields, players, expiryIsValid, wrong, grant, batch, count, obstacle };
}

export const refNameOf = (kind: Kind) => (kind === 'grant' ? 'requestRef' : 'batchRef');

/**
 * The reference of the grant or batch. It is made once for a form and is in its address, so that neither a double click
 * nor a reload grants twice.
 */
function useReference(kind: Kind): Signal<string> {
  const { query, path } = usePage();
  const name = refNameOf(kind);
  const ref = useSignal(query[name] ?? randomId(kind, 12));
  // Also when it is edited: a reload must not bring back another reference than the one that was sent.
  const given = ref.value.trim();
  const isInAddress = given === '' || query[name] === given;
  useRedirect(isInAddress ? undefined : withQuery(path, { ...query, [name]: given }));
  return ref;
}
