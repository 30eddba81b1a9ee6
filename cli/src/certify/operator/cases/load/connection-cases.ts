import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Unmet } from '../../../outcome.js';
import { wrongSecret } from '../../../signature-cases.js';
import { RULES } from '../../rules.js';
import { oneOfEach } from '../answers/one-of-each.js';
import type { WalletCase } from '../wallet-case.js';

/** The platform uses an idle connection for this much less than `Keep-Alive` allows, in milliseconds. */
const HINT_MARGIN_MS = 1000;

/** The cases about connections that do not depend on the others. */
export const IDLE_CASES: WalletCase[] = [
  {
    id: 'idle-connection',
    title: 'keeps an idle connection open, or announces that it closes it',
    rule: RULES.connections,
    run: async (caller) => {
      const { baseUrl } = caller.wallet;
      const options = { keepAlive: true, maxSockets: 1 };
      const agent = baseUrl.protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options);
      try {
        const { announcedIdleMs = Infinity } = await caller.askBalance({}, { agent });
        // Node returns the connection to the agent after the answer has been read.
        await delay(0);
        // Without an idle connection the wallet has closed it with `Connection: close`, or announced at most a second.
        const [socket] = Object.values(agent.freeSockets).flat();
        const usedMs = Math.min(caller.wallet.idleMs, announcedIdleMs - HINT_MARGIN_MS);
        if (socket && usedMs > 0) await expectOpen(socket, usedMs);
      } finally {
        agent.destroy();
      }
    },
  },
];

/** Expects that the server does not close an idle connection within this time. */
async function expectOpen(socket: Socket, idleMs: number): Promise<void> {
  const aborted = new AbortController();
  const closed = new Promise<boolean>((resolve) => {
    socket.once('end', () => resolve(true));
    socket.once('error', () => resolve(true));
  });
  const open = delay(idleMs, false, { signal: aborted.signal }).catch(() => false);
  const isClosed = await Promise.race([closed, open]);
  aborted.abort();
  if (!isClosed) return;
  throw new Unmet(
    'an idle connection that stays open for 5 seconds, unless the answer says otherwise',
    `it was closed within ${idleMs} ms, without Connection: close and beyond what Keep-Alive says`,
    'The platform may send a call on a connection that is being closed, and then does not know the outcome. Set the keep-alive time-out of your server or proxy to more than 5 seconds.',
  );
}

/** Run after all others, because they judge every connection of the run. */
export const CONNECTION_CASES: WalletCase[] = [
  {
    id: 'answers-once',
    title: 'answers each call once, and sends nothing more on its connection',
    rule: RULES.answerOnce,
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
