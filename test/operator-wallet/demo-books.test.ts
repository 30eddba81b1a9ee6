import { expect, test } from 'vitest';
import type { Configuration } from '../../src/config/configuration.js';
import { DemoBooks } from '../../src/operator-wallet/demo-books.js';
import type { RedisConnection } from '../../src/runtime/redis.js';

test('in memory, a session keeps 10,000 entries, of which a ROLLBACK that arrives first uses two', async () => {
  const books = new DemoBooks({ demoStartBalanceMinor: 5000 } as Configuration, {} as RedisConnection);
  const booked = { providerId: 'p', playerRef: 'r', gameId: 'g', currency: 'EUR', roundId: 'round' };
  const bet = { ...booked, transactionId: 'bet', kind: 'BET', amountMinor: 100 } as const;
  const rollBack = async (count: number, of: string) => {
    for (let n = 0; n < count; n += 1) {
      const ids = { transactionId: `${of}-${n}`, originalTransactionId: `${of}-bet-${n}` };
      await books.book('session', { ...booked, ...ids, kind: 'ROLLBACK', amountMinor: 0 });
    }
  };
  await rollBack(5_000, 'first');
  await books.book('session', bet);
  await rollBack(4_999, 'second');
  expect(await books.book('session', bet)).toMatchObject({ balance: 4900 });
  await rollBack(1, 'third');
  expect(await books.book('session', bet)).toMatchObject({ balance: 4800 });
});
