import { expect, test } from 'vitest';
import type { Configuration } from '../../src/config/configuration.js';
import { DemoBooks } from '../../src/operator-wallet/demo-books.js';
import type { RedisConnection } from '../../src/runtime/redis.js';

const booked = { providerId: 'p', playerRef: 'r', gameId: 'g', currency: 'EUR', roundId: 'round' };
const bet = { ...booked, transactionId: 'bet', kind: 'BET', amountMinor: 100 } as const;

const inMemory = () => new DemoBooks({ demoStartBalanceMinor: 5000 } as Configuration, {} as RedisConnection);

/** Books ROLLBACKs that arrive before their BETs. */
async function rollBack(books: DemoBooks, session: string, count: number, of: string): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const ids = { transactionId: `${of}-${n}`, originalTransactionId: `${of}-bet-${n}` };
    await books.book(session, { ...booked, ...ids, kind: 'ROLLBACK', amountMinor: 0 });
  }
}

test('in memory, a session keeps 10,000 entries, of which a ROLLBACK that arrives first uses two', async () => {
  const books = inMemory();
  await rollBack(books, 'session', 5_000, 'first');
  await books.book('session', bet);
  await rollBack(books, 'session', 4_999, 'second');
  expect(await books.book('session', bet)).toMatchObject({ balance: 4900 });
  await rollBack(books, 'session', 1, 'third');
  expect(await books.book('session', bet)).toMatchObject({ balance: 4800 });
});

test('in memory, all sessions keep 500,000 entries: the session that has been idle longest starts again', async () => {
  const books = inMemory();
  const balanceOf = async (session: string) =>
    (await books.walletOf(session).balance({ playerRef: 'r', currency: 'EUR' })) as { balance: number };
  for (let n = 0; n < 50; n += 1) {
    await books.book(`session-${n}`, bet);
    await rollBack(books, `session-${n}`, 5_000, 'round');
  }
  expect(await balanceOf('session-0')).toMatchObject({ balance: 4900 });
  await books.book('another', bet);
  expect(await balanceOf('session-1')).toMatchObject({ balance: 5000 });
  expect(await balanceOf('session-0')).toMatchObject({ balance: 4900 });
  expect(await balanceOf('session-2')).toMatchObject({ balance: 4900 });
});
