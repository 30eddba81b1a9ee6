import {
  bookFirst,
  expectApproved,
  expectBalance,
  expectBooked,
  expectDeclined,
  expectInvalid,
  expectMovement,
  setBalance,
} from '../../expectations.js';
import { RULES } from '../../rules.js';
import { UNKNOWN_FIELDS } from '../../../unknown-fields.js';
import { type WalletCase, withoutOtherPlayer } from '../wallet-case.js';

export const BET_CASES: WalletCase[] = [
  {
    id: 'bet-booked',
    title: 'takes the amount of a BET from the balance',
    rule: RULES.balanceAfter,
    run: (caller) =>
      expectMovement(caller, -caller.stakeMinor, (before) =>
        expectBooked(caller, caller.bet(), before - caller.stakeMinor),
      ),
  },
  {
    id: 'bet-zero',
    title: 'approves a BET of 0',
    rule: RULES.funds,
    run: (caller) =>
      expectMovement(caller, 0, async () =>
        expectApproved(await caller.decide(caller.bet({ amountMinor: 0 }))),
      ),
  },
  {
    id: 'bet-zero-without-money',
    title: 'approves a BET of 0 at a balance of 0',
    rule: RULES.funds,
    run: async (caller) => {
      await setBalance(caller, 0);
      await expectBooked(caller, caller.bet({ amountMinor: 0 }), 0);
    },
  },
  {
    id: 'bet-whole-balance',
    title: 'approves a BET of the whole balance',
    rule: RULES.funds,
    run: async (caller) => {
      await setBalance(caller, 3 * caller.stakeMinor);
      await expectBooked(caller, caller.bet({ amountMinor: 3 * caller.stakeMinor }), 0);
    },
  },
  {
    id: 'bet-insufficient-funds',
    title: 'declines a BET of more than the balance, with status 200 and the balance',
    rule: RULES.funds,
    run: (caller) =>
      expectMovement(caller, 0, async (before) => {
        const bet = caller.bet({ amountMinor: before + 1 });
        expectBalance(expectDeclined(await caller.decide(bet)).balance, before, 'in the answer');
      }),
  },
  {
    id: 'bet-without-money',
    title: 'declines a BET of 1 at a balance of 0',
    rule: RULES.funds,
    run: async (caller) => {
      await setBalance(caller, 0);
      expectBalance(
        expectDeclined(await caller.decide(caller.bet({ amountMinor: 1 }))).balance,
        0,
        'in the answer',
      );
      expectBalance(await caller.balance(), 0, 'afterwards');
    },
  },
  {
    id: 'bet-after-declined',
    title: 'approves a BET after it declined others for lack of money',
    rule: RULES.funds,
    run: async (caller) => {
      const amountMinor = (await caller.balance()) + 1;
      for (let times = 0; times < 3; times += 1)
        expectDeclined(await caller.decide(caller.bet({ amountMinor })));
      await expectMovement(caller, -caller.stakeMinor, async () =>
        expectApproved(await caller.decide(caller.bet())),
      );
    },
  },
  {
    id: 'bet-largest-amount',
    title: 'declines a BET of 2^53-1 minor units instead of failing',
    rule: RULES.funds,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const bet = caller.bet({ amountMinor: Number.MAX_SAFE_INTEGER });
        expectDeclined(await caller.decide(bet));
      }),
  },
  {
    id: 'bet-negative-amount',
    title: 'refuses a BET of a negative amount',
    rule: RULES.invalid,
    run: (caller) =>
      expectMovement(caller, 0, async () =>
        expectInvalid(await caller.send(caller.bet({ amountMinor: -caller.stakeMinor }))),
      ),
  },
  {
    id: 'bet-fraction',
    title: 'refuses an amount with a fraction',
    rule: RULES.invalid,
    run: (caller) =>
      expectMovement(caller, 0, async () =>
        expectInvalid(await caller.send(caller.bet({ amountMinor: 0.5 }))),
      ),
  },
  {
    id: 'bet-incomplete',
    title: 'refuses a BET that lacks a field',
    rule: RULES.invalid,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        for (const field of ['kind', 'playerRef', 'amountMinor']) {
          const bet: Record<string, unknown> = { ...caller.bet(), [field]: undefined };
          expectInvalid(await caller.send(JSON.stringify(bet)));
        }
      }),
  },
  {
    id: 'bet-unknown-fields',
    title: 'ignores unknown fields of a transaction',
    rule: RULES.unknownFields,
    run: (caller) =>
      expectMovement(caller, -caller.stakeMinor, async () =>
        expectApproved(await caller.decide(caller.bet(UNKNOWN_FIELDS))),
      ),
  },
  {
    id: 'bet-malformed',
    title: 'refuses a transaction whose body is not JSON',
    rule: RULES.invalid,
    run: async (caller) => expectInvalid(await caller.send('{"transactionId":')),
  },
  {
    id: 'bet-unknown-kind',
    title: 'refuses a kind that it does not know',
    rule: RULES.invalid,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        expectInvalid(await caller.send(caller.bet({ kind: 'JACKPOT' })));
        // A property of every object in JavaScript.
        expectInvalid(await caller.send(caller.bet({ kind: 'constructor' })));
      }),
  },
  {
    id: 'bet-twice-in-a-round',
    title: 'books two BETs of the same amount in one round',
    rule: RULES.rounds,
    run: (caller) =>
      expectMovement(caller, -2 * caller.stakeMinor, async () => {
        const { roundId } = await bookFirst(caller, caller.bet());
        expectApproved(await caller.decide(caller.bet({ roundId })), 'APPROVED for the second BET');
      }),
  },
  {
    id: 'bet-after-round-closed',
    title: 'books a BET of a round that was closed',
    rule: RULES.rounds,
    run: async (caller) => {
      const { roundId } = await bookFirst(caller, caller.bet());
      await bookFirst(caller, caller.win({ roundId, roundClosed: true }));
      await expectMovement(caller, -caller.stakeMinor, async () =>
        expectApproved(await caller.decide(caller.bet({ roundId }))),
      );
    },
  },
  {
    id: 'bet-closes-round',
    title: 'books a BET that closes its round, and takes it for nothing else',
    rule: RULES.informative,
    run: (caller) =>
      expectMovement(caller, -2 * caller.stakeMinor, async () => {
        expectApproved(await caller.decide(caller.bet({ roundClosed: true })));
        expectApproved(await caller.decide(caller.bet({ roundClosed: false })));
      }),
  },
  {
    id: 'bet-names-another',
    title: 'books a BET with an originalTransactionId as a BET, and leaves the transaction that it names',
    rule: RULES.informative,
    run: (caller) =>
      expectMovement(caller, -2 * caller.stakeMinor, async () => {
        const { transactionId, roundId } = await bookFirst(caller, caller.bet());
        const bet = caller.bet({ roundId, originalTransactionId: transactionId });
        expectApproved(await caller.decide(bet));
      }),
  },
  {
    id: 'bet-other-player',
    title: 'takes the money of the player that the BET names',
    rule: RULES.players,
    skipped: withoutOtherPlayer,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const playerRef = caller.wallet.otherPlayerRef ?? '';
        const act = async () => expectApproved(await caller.decide(caller.bet({ playerRef })));
        await expectMovement(caller, -caller.stakeMinor, act, { playerRef });
      }),
  },
  {
    id: 'bet-lookalike-player',
    title: 'takes no money of a player whose playerRef differs in a letter or its case',
    rule: RULES.identifiers,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const { playerRef } = caller.wallet;
        const others = [
          playerRef.toUpperCase(),
          playerRef.toLowerCase(),
          `${playerRef.slice(0, -1)}_`,
          `${playerRef.slice(0, -1)}%`,
        ];
        for (const other of others)
          if (other !== playerRef) await caller.send(caller.bet({ playerRef: other }));
      }),
  },
];
