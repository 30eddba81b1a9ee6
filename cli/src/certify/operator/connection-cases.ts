import { setTimeout as delay } from 'node:timers/promises';
import { Unmet } from '../outcome.js';
import { wrongSecret } from '../signature-cases.js';
import { oneOfEach } from './one-of-each.js';
import type { WalletCase } from './wallet-case.js';

/** Run after all others, because they judge every connection of the run. */
export const CONNECTION_CASES: WalletCase[] = [
  {
    id: 'answers-once',
    title: 'answers each call once, and sends nothing more on its connection',
    run: async (caller) => {
      for (const order of await oneOfEach(caller)) {
        await caller.send(order);
        await caller.send(order);
        await caller.askBalance();
      }
      await caller.askBalance({}, wrongSecret(caller.calls));
      // Time for a late answer. If one is left in the connection's buffer, the next call receives it.
      await delay(caller.wallet.slowMs);
      await caller.decide(caller.bet());
      const [call, ...others] = caller.calls.connections.callsWithSurplus();
      if (call === undefined) return;
      throw new Unmet(
        'nothing more on a connection after the answer to its call',
        `more bytes after the answer to ${call}${others.length > 0 ? `, and after ${others.length} other answers` : ''}`,
        'The client of a kept-alive connection takes such bytes as the answer to its next call. Find the call by its X-Request-Id in the logs of your wallet and of each proxy.',
      );
    },
  },
];
