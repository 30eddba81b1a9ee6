import { WALLET_ROUTES } from '../../caller.js';
import { expectApproved, expectMovement } from '../../expectations.js';
import { withSlowBody } from '../../../signed-calls.js';
import { Unmet } from '../../../outcome.js';
import { RULES } from '../../rules.js';
import type { WalletCase } from '../wallet-case.js';

/** Calls at once, as a platform with several instances makes them. */
const AT_ONCE = 50;
/** Bytes of a character in UTF-8 that the pause in the middle of a body can split. */
const CHARACTER = '🎰';

const INVALID_BODIES = ['null', '[]', '"text"', '1', '{', '', '{"__proto__":{"amountMinor":1}}', '\u0000'];

/** The cases about HTTP that only a wallet needs. */
export const WALLET_TRANSPORT_CASES: WalletCase[] = [
  {
    id: 'many-calls-at-once',
    title: `answers ${AT_ONCE} calls at once, each on its own connection`,
    rule: RULES.inTime,
    run: async (caller) => {
      const accounts = Array.from({ length: AT_ONCE }, () => ({}));
      await caller.readBalancesAtOnce(accounts);
      const replies = await Promise.all(accounts.map(() => caller.askBalance({}, { agent: false })));
      const failed = replies.find(({ status }) => status !== 200);
      if (failed) throw new Unmet('status 200 each time', `status ${failed.status}`);
    },
  },
  {
    id: 'split-character',
    title: 'reads a body whose halves arrive separately, split within a character',
    rule: RULES.lengths,
    run: (caller) =>
      expectMovement(caller, 2 * caller.stakeMinor, async () => {
        for (const padding of ['', 'xx']) {
          // One byte more before the middle: at least one of the two middles is within a character.
          const freeSpinsRef = padding + CHARACTER.repeat(200);
          const win = caller.win({ freeSpinsRef });
          expectApproved(await caller.decide(win, withSlowBody(caller.calls)));
        }
      }),
  },
  {
    id: 'alive-after-invalid-bodies',
    title: 'goes on booking after bodies that are not JSON objects',
    rule: RULES.invalid,
    run: async (caller) => {
      const calls = INVALID_BODIES.flatMap((body) =>
        Object.values(WALLET_ROUTES).map((route) => caller.calls.post(route, body)),
      );
      // No valid call has such a body, so how they are answered does not matter.
      await Promise.allSettled(calls);
      expectApproved(await caller.decide(caller.bet()), 'APPROVED for a BET afterwards');
    },
  },
];
