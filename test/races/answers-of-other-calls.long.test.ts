import { expect, test } from 'vitest';
import type { Behaviour, ReceivedCall } from '../world/counterpart.js';
import type { LateEnding } from '../world/endings.js';
import { type LaunchedSession, PROVIDER, useWorld } from '../world/world.js';

const BETS = 600;
const PLAYERS = 8;
/** Attempts within which a request must get a definite answer. */
const TRIES = 50;

const world = useWorld();

/** Each answer is sent once more, when the next call on its connection is under way and before that call's own answer. */
const AGAIN: LateEnding = { do: 'reply-twice' };

/** A wallet, or a proxy before it, that answers each call that it does not decline once too often. */
const answersOnceTooOften = ({ json }: ReceivedCall): Behaviour =>
  String(json['transactionId']).startsWith('declined-')
    ? { do: 'decline', reason: 'LIMIT_REACHED' }
    : { do: 'book-then', then: AGAIN };

interface Told {
  readonly status: string;
  readonly balance: number;
}

/** Sends a request until it is answered 200, as X-Next-Action says. */
async function definite(path: string, body: object): Promise<Told> {
  const raw = JSON.stringify(body);
  for (let tried = 0; tried < TRIES; tried += 1) {
    const headers = { 'Content-Type': 'application/json', ...world.signature(PROVIDER, path, raw) };
    const response = await fetch(world.url + path, { method: 'POST', headers, body: raw });
    const told = (await response.json()) as Told;
    if (response.status === 200) return told;
    expect(response.headers.get('x-next-action')).toMatch(/retry/);
  }
  throw new Error(`${raw} got no definite answer`);
}

const submit = (session: LaunchedSession, transactionId: string, amountMinor = 10) =>
  definite('/v1/wallet/transaction', world.transaction(session, 'BET', { transactionId, amountMinor }));
const readBalance = ({ sessionToken }: LaunchedSession) => definite('/v1/wallet/balance', { sessionToken });

const launchPlayers = () => Promise.all(Array.from({ length: PLAYERS }, () => world.launch()));

test(`of ${BETS} BETs that the wallet declines, none is told APPROVED by an extra answer to another`, async () => {
  const players = await launchPlayers();
  world.wallet.otherwise(answersOnceTooOften);
  const told = new Map<string, Told>();
  let next = 0;
  const play = async (session: LaunchedSession) => {
    while (next < BETS) {
      const number = next++;
      for (const id of [`approved-${number}`, `declined-${number}`]) told.set(id, await submit(session, id));
    }
  };
  await Promise.all(players.map(play));
  world.wallet.otherwise(() => undefined);

  const ids = (status: string) =>
    [...told].filter(([, answer]) => answer.status === status).map(([id]) => id);
  expect(ids('APPROVED').filter((id) => id.startsWith('declined-'))).toEqual([]);
  expect(ids('DECLINED').filter((id) => id.startsWith('approved-'))).toEqual([]);
  const stored = await world.sql.run<{ id: string; state: string }>(
    'SELECT transaction_id AS id, state FROM transactions',
  );
  const booked = world.wallet.entries.map(({ transactionId, status }) => [transactionId, status]);
  expect(Object.fromEntries(stored.map(({ id, state }) => [id, state]))).toEqual(Object.fromEntries(booked));
  expect(stored).toHaveLength(2 * BETS);
}, 120_000);

test('no player is told the balance in the answer to another call', async () => {
  const players = await launchPlayers();
  for (const [number, { playerRef }] of players.entries()) world.wallet.setBalance(playerRef, 1000 + number);
  world.wallet.otherwise(answersOnceTooOften);
  for (let pass = 0; pass < 5; pass += 1) {
    for (const session of players) {
      const { playerRef } = session;
      expect((await readBalance(session)).balance).toBe(world.wallet.balanceOf(playerRef));
      const { balance } = await submit(session, `of-${playerRef}-${pass}`, 1);
      expect(balance).toBe(world.wallet.balanceOf(playerRef));
    }
  }
  world.wallet.otherwise(() => undefined);
});
