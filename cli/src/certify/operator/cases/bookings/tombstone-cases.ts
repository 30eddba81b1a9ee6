import {
  bookFirst,
  expectApproved,
  expectBooked,
  expectDeclined,
  expectMovement,
} from '../../expectations.js';
import { RULES } from '../../rules.js';
import { LONGEST_ID, PUNCTUATION } from '../identifiers.js';
import type { WalletCase } from '../wallet-case.js';

export const TOMBSTONE_CASES: WalletCase[] = [
  {
    id: 'rollback-unknown',
    title: 'approves a ROLLBACK of a transaction that it never booked and moves nothing',
    rule: RULES.tombstone,
    run: (caller) =>
      expectMovement(caller, 0, (before) => expectBooked(caller, caller.rollback(caller.bet()), before)),
  },
  {
    id: 'rollback-unknown-zero',
    title:
      'approves a ROLLBACK of the amount 0 of a transaction that it never booked, and leaves its tombstone',
    rule: RULES.tombstone,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const bet = caller.bet();
        expectApproved(await caller.decide(caller.rollback(bet, { amountMinor: 0 })));
        expectDeclined(await caller.decide(bet), 'DECLINED for the BET afterwards');
      }),
  },
  {
    id: 'rollback-unknown-repeated',
    title: 'approves a repeated ROLLBACK of a transaction that it never booked',
    rule: RULES.once,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const rollback = caller.rollback(caller.bet());
        await bookFirst(caller, rollback);
        expectApproved(await caller.decide(rollback), 'APPROVED the second time too');
      }),
  },
  {
    id: 'rollback-unknown-another-id',
    title: 'approves a second ROLLBACK of a transaction that it never booked',
    rule: RULES.oneReversal,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const bet = caller.bet();
        await bookFirst(caller, caller.rollback(bet));
        expectApproved(await caller.decide(caller.rollback(bet)), 'APPROVED for the second ROLLBACK');
        expectDeclined(await caller.decide(bet), 'DECLINED for the BET afterwards');
      }),
  },
  {
    id: 'rollback-unknown-larger',
    title: 'approves a ROLLBACK of more than the balance of a transaction that it never booked',
    rule: RULES.tombstone,
    run: (caller) =>
      expectMovement(caller, 0, async (before) => {
        const bet = caller.bet({ amountMinor: 2 * before + 1 });
        await expectBooked(caller, caller.rollback(bet), before);
      }),
  },
  {
    id: 'rollback-before-bet',
    title: 'declines a BET whose ROLLBACK came first',
    rule: RULES.tombstone,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const bet = caller.bet();
        await bookFirst(caller, caller.rollback(bet));
        expectDeclined(await caller.decide(bet));
      }),
  },
  {
    id: 'rollback-before-bet-repeated',
    title: 'declines a BET whose ROLLBACK came first, however often it arrives',
    rule: RULES.once,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const bet = caller.bet();
        await bookFirst(caller, caller.rollback(bet));
        for (let times = 0; times < 3; times += 1)
          expectDeclined(await caller.decide(bet), 'DECLINED each time');
      }),
  },
  {
    id: 'rollback-after-tombstone-bet',
    title: 'moves nothing for a ROLLBACK of a BET that it declined because of a tombstone',
    rule: RULES.rollbackOfDeclined,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const bet = caller.bet();
        const rollback = await bookFirst(caller, caller.rollback(bet));
        expectDeclined(await caller.decide(bet));
        expectApproved(await caller.decide(rollback), 'APPROVED for the repeated ROLLBACK');
        expectApproved(await caller.decide(caller.rollback(bet)), 'APPROVED for another ROLLBACK');
      }),
  },
  {
    id: 'tombstone-other-fields',
    title: 'declines a BET whose ROLLBACK came first, even if its other fields differ',
    rule: RULES.tombstoneKey,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const bet = caller.bet();
        await bookFirst(caller, caller.rollback(bet, { amountMinor: 0 }));
        const { transactionId } = bet;
        const gameId = caller.otherGameId;
        const other = caller.bet({ transactionId, gameId, amountMinor: 2 * caller.stakeMinor });
        expectDeclined(await caller.decide(other));
      }),
  },
  {
    id: 'tombstone-one-bet',
    title: 'books the other BETs of a round after a ROLLBACK of a BET that it never booked',
    rule: RULES.tombstoneKey,
    run: (caller) =>
      expectMovement(caller, -caller.stakeMinor, async () => {
        const missing = caller.bet();
        await bookFirst(caller, caller.rollback(missing));
        const bet = caller.bet({ roundId: missing['roundId'] });
        expectApproved(await caller.decide(bet), 'APPROVED for another BET of the round');
      }),
  },
  {
    id: 'tombstone-other-provider',
    title: "books another provider's BET of the same transactionId after a ROLLBACK that came first",
    rule: RULES.tombstoneKey,
    run: (caller) =>
      expectMovement(caller, -caller.stakeMinor, async () => {
        const bet = caller.bet();
        await bookFirst(caller, caller.rollback(bet));
        const ofOther = { ...bet, providerId: caller.otherProviderId };
        expectApproved(await caller.decide(ofOther), "APPROVED for the other provider's BET");
      }),
  },
  {
    id: 'tombstone-longest-id',
    title: `declines the BET of ${LONGEST_ID} characters whose ROLLBACK came first, and no similar one`,
    rule: RULES.lengths,
    run: (caller) =>
      expectMovement(caller, -caller.stakeMinor, async () => {
        const start = caller.calls.fresh('long').padEnd(LONGEST_ID - 1, 'x');
        const bet = caller.bet({ transactionId: `${start}1` });
        const similar = caller.bet({ transactionId: `${start}2` });
        expectApproved(await caller.decide(caller.rollback(bet)), 'APPROVED for the ROLLBACK');
        expectApproved(await caller.decide(similar), 'APPROVED for the similar BET');
        expectDeclined(await caller.decide(bet), 'DECLINED for the BET whose ROLLBACK came first');
      }),
  },
  {
    id: 'tombstone-punctuation',
    title: 'takes an originalTransactionId with any printable ASCII character',
    rule: RULES.identifiers,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const bet = caller.bet({ transactionId: caller.calls.fresh(PUNCTUATION) });
        expectApproved(await caller.decide(caller.rollback(bet)), 'APPROVED for the ROLLBACK');
        expectDeclined(await caller.decide(bet));
      }),
  },
];
