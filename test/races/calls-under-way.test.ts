import { expect, test } from 'vitest';
import { OperatorWallets } from '../../src/operator-wallet/operator-wallets.service.js';
import { type LaunchedSession, OPERATOR, PROVIDER, useWorld, type World } from '../world/world.js';
import { CallsUnderWay } from './calls-under-way.js';

const world = useWorld();

/** Calls the wallet without the service's own steps. */
function call(
  session: LaunchedSession,
  { transactionId, roundId, amountMinor = 0 }: ReturnType<World['transaction']>,
) {
  const { playerRef, currency, gameId } = session;
  const wallet = world.app
    .get(OperatorWallets)
    .walletOf({ operatorId: OPERATOR, mode: 'REAL', sessionId: null });
  const identity = { providerId: PROVIDER, transactionId, kind: 'BET', roundId } as const;
  return wallet.book({ ...identity, playerRef, currency, gameId, amountMinor });
}

test('the observation of calls finds one without a claim, one after its settlement, and two at once', async () => {
  const session = await world.launch();
  const body = world.transaction(session, 'BET');
  const calls = CallsUnderWay.observe(world);
  const id = `${PROVIDER} ${body.transactionId}`;

  await call(session, body);
  expect(calls.violations.splice(0)).toEqual([`the call of ${id}: its claim is undefined`]);

  await world.submit(body);
  expect(calls.violations).toEqual([]);

  await call(session, body);
  expect(calls.violations.splice(0)).toEqual([expect.stringContaining('its claim is {"state":"APPROVED"')]);

  const held = world.wallet.next({ do: 'hold' });
  const first = call(session, body);
  await held.arrived;
  const second = call(session, body);
  await second;
  held.release();
  await first;
  expect(calls.violations).toContain(`the call of ${id}: a call of ${id} is under way`);
});
