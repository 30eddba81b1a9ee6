import { Unmet } from '../../../outcome.js';
import { describeReply } from '../../../../reply.js';
import { balanceOf } from '../../answers.js';
import { WALLET_ROUTES, type WalletCaller, type WalletOrder } from '../../caller.js';
import { bookFirst, expectApproved, expectBalance, expectInvalid } from '../../expectations.js';
import { RULES } from '../../rules.js';
import { type WalletCase, withoutUnknownPlayer } from '../wallet-case.js';
import { UNKNOWN_FIELDS } from '../../../unknown-fields.js';

const AT_ONCE = 10;
/** How often a balance is read immediately after a booking. A replica may be behind for a few milliseconds only. */
const READS_AFTER_BOOKING = 10;
/** Number of balance calls at once after each of these bookings, on connections of their own. */
const READERS = 4;

export const BALANCE_CASES: WalletCase[] = [
  {
    id: 'balance-answered',
    title: 'answers the balance as a whole number of minor units',
    rule: RULES.echo,
    run: async (caller) => {
      await caller.readBalance();
    },
  },
  {
    id: 'balance-repeated',
    title: 'changes nothing when the balance is read',
    rule: RULES.balanceMovesNothing,
    run: async (caller) => {
      const before = await caller.balance();
      expectBalance(await caller.balance(), before, 'the second time');
      expectBalance(await caller.balance(), before, 'the third time');
    },
  },
  {
    id: 'balance-at-once',
    title: `answers ${AT_ONCE} balance calls at once`,
    rule: RULES.balanceMovesNothing,
    run: async (caller) => {
      const before = await caller.balance();
      const balances = await caller.readBalancesAtOnce(Array.from({ length: AT_ONCE }, () => ({})));
      for (const balance of balances) expectBalance(balance, before, 'each time');
    },
  },
  {
    id: 'balance-unknown-fields',
    title: 'ignores unknown fields of a balance call',
    rule: RULES.unknownFields,
    run: async (caller) => {
      await caller.readBalance(UNKNOWN_FIELDS);
    },
  },
  {
    id: 'balance-unknown-player',
    title: 'shows no money for a player that it does not know',
    rule: RULES.unknownBalance,
    skipped: withoutUnknownPlayer,
    run: async (caller) => {
      const asked = caller.balanceBody({ playerRef: caller.wallet.unknownPlayerRef });
      const reply = await caller.askBalance(asked);
      if (reply.status === 404) return;
      if (reply.status === 200 && balanceOf(reply, asked) === 0) return;
      throw new Unmet('status 404, or balance 0', describeReply(reply));
    },
  },
  {
    id: 'balance-malformed',
    title: 'refuses a balance call whose body is not JSON',
    rule: RULES.invalid,
    run: async (caller) => expectInvalid(await caller.calls.post(WALLET_ROUTES.balance, '{"playerRef":')),
  },
];

/** The cases that read a balance immediately after a booking. */
export const FRESH_BALANCE_CASES: WalletCase[] = [
  {
    id: 'balance-after-booking',
    title: 'shows each booking in the balance calls that begin after its answer',
    rule: RULES.balanceAfter,
    run: async (caller) => {
      for (let read = 0; read < READS_AFTER_BOOKING; read += 1) {
        const order = read % 2 === 0 ? caller.bet() : caller.win();
        const { balance } = expectApproved(await caller.decide(order));
        const replies = await Promise.all(
          Array.from({ length: READERS }, (_, reader) =>
            // Connections of their own reach other processes or replicas.
            caller.askBalance({}, reader === 0 ? {} : { agent: false }),
          ),
        );
        for (const reply of replies)
          expectBalance(
            balanceOf(reply, caller.balanceBody()),
            balance,
            `after the ${order.kind}, as its answer says`,
          );
      }
    },
  },
  {
    id: 'balance-in-answers',
    title: 'answers each kind of transaction with the balance after it',
    rule: RULES.balanceAfter,
    run: async (caller) => {
      for (const order of await ordersOfEveryKind(caller)) {
        const { balance, status } = await caller.decide(order);
        expectBalance(await caller.balance(), balance, `as in the answer ${status} to the ${order.kind}`);
      }
    },
  },
  {
    id: 'balance-in-repetitions',
    title: 'answers a repeated transaction with the balance of the first answer, or with the current one',
    rule: RULES.repeatedBalance,
    run: async (caller) => {
      const decided: { order: WalletOrder; first: number }[] = [];
      for (const order of await ordersOfEveryKind(caller))
        decided.push({ order, first: (await caller.decide(order)).balance });
      await bookFirst(caller, caller.bet());
      const current = await caller.balance();
      for (const { order, first } of decided) {
        const { balance } = await caller.decide(order);
        if (balance !== first && balance !== current)
          throw new Unmet(
            `balance ${first} or ${current} for the repeated ${order.kind}`,
            `balance ${balance}`,
          );
      }
    },
  },
];

/** A transaction of each kind, each with another effect, to be sent in this order. */
async function ordersOfEveryKind(caller: WalletCaller): Promise<WalletOrder[]> {
  const [bet, reversed] = [caller.bet(), caller.bet()];
  const { roundId } = bet;
  return [
    bet,
    caller.bet({ amountMinor: 0 }),
    caller.win({ roundId, amountMinor: 3 * caller.stakeMinor }),
    reversed,
    caller.rollback(reversed),
    caller.rollback(reversed),
    caller.rollback(caller.bet()),
    caller.adjustment(2 * caller.stakeMinor),
    caller.bet({ amountMinor: 10 * (await caller.balance()) + 1 }),
  ];
}
