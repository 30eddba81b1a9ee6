import type { WalletCaller, WalletOrder } from '../../caller.js';
import { bookFirst, expectApproved, expectMovement } from '../../expectations.js';
import { RULES } from '../../rules.js';
import { LONGEST_ID, PUNCTUATION } from '../identifiers.js';
import type { WalletCase } from '../wallet-case.js';

/** Characters of a providerId with which a wallet may join it to the transactionId, and none. */
const JOINTS = ['', '-', '_', '.'];
/** Ids that a language or database may take for something else, or for the id of a property. */
const MEANINGFUL_IDS = ['constructor', '__proto__', 'toString', 'null', 'undefined', 'true', 'NaN', '0'];
/** Ids that are the same number, but not the same text. */
const NUMERIC_IDS = ['100', '0100', '1e2', '100.0', '0x64', '+100', '9007199254740992', '9007199254740993'];

export const IDENTIFIER_CASES: WalletCase[] = [
  {
    id: 'same-id-other-provider',
    title: 'books the same transactionId for each of two providers',
    rule: RULES.identity,
    run: async (caller) => {
      const bet = await bookFirst(caller, caller.bet());
      const { otherProviderId: providerId } = caller;
      const act = async () => expectApproved(await caller.decide({ ...bet, providerId }));
      await expectMovement(caller, -caller.stakeMinor, act);
    },
  },
  {
    id: 'ids-joined',
    title: 'keeps providerId and transactionId apart, wherever one ends and the other begins',
    rule: RULES.identity,
    run: async (caller) => {
      const [start, middle, end] = [ownProviderId(caller), 'x', caller.calls.fresh('bet')];
      const pairs = JOINTS.map((joint) => [
        { providerId: start, transactionId: middle + joint + end },
        { providerId: start + joint + middle, transactionId: end },
      ]);
      await bookAll(caller, pairs.flat());
    },
  },
  {
    id: 'ids-case-sensitive',
    title: 'distinguishes upper and lower case in a transactionId',
    rule: RULES.identifiers,
    run: (caller) =>
      expectMovement(caller, -2 * caller.stakeMinor, async () => {
        const bet = await bookFirst(caller, caller.bet());
        const transactionId = bet.transactionId.toUpperCase();
        expectApproved(await caller.decide(caller.bet({ transactionId })));
      }),
  },
  {
    id: 'ids-longest',
    title: `distinguishes transactionIds of ${LONGEST_ID} characters that differ in the last one`,
    rule: RULES.lengths,
    run: (caller) =>
      expectMovement(caller, -2 * caller.stakeMinor, async () => {
        const start = caller.calls.fresh('long').padEnd(LONGEST_ID - 1, 'x');
        for (const last of ['1', '2'])
          expectApproved(
            await caller.decide(caller.bet({ transactionId: start + last })),
            'APPROVED each time',
          );
      }),
  },
  ...[65, 101, LONGEST_ID].map((length): WalletCase => ({
    id: `fields-of-${length}`,
    title: `books a BET, a WIN and a ROLLBACK whose identifiers have ${length} characters`,
    rule: RULES.lengths,
    run: (caller) =>
      expectMovement(caller, caller.stakeMinor, async () => {
        const long = (what: string) => caller.calls.fresh(what).padEnd(length, 'x');
        const fields = { roundId: long('round'), gameId: long('game') };
        const bet = caller.bet({ ...fields, transactionId: long('bet') });
        const undone = caller.bet({ ...fields, transactionId: long('bet') });
        const amountMinor = 2 * caller.stakeMinor;
        const orders = [
          bet,
          undone,
          caller.win({ ...fields, transactionId: long('win'), promotionRef: long('promotion'), amountMinor }),
          caller.rollback(undone, { transactionId: long('rollback') }),
        ];
        for (const order of [...orders, ...orders])
          expectApproved(await caller.decide(order), `APPROVED for the ${order.kind}`);
      }),
  })),
  {
    id: 'provider-longest',
    title: 'distinguishes providerIds of 64 characters that differ in the last one',
    rule: RULES.lengths,
    run: async (caller) => {
      const start = ownProviderId(caller).padEnd(63, 'x');
      const transactionId = caller.calls.fresh('bet');
      await bookAll(
        caller,
        ['1', '2'].map((last) => ({ providerId: start + last, transactionId })),
      );
    },
  },
  {
    id: 'provider-case-sensitive',
    title: 'distinguishes upper and lower case in a providerId',
    rule: RULES.identifiers,
    run: async (caller) => {
      const transactionId = caller.calls.fresh('bet');
      const providerId = ownProviderId(caller);
      await bookAll(
        caller,
        [providerId.toLowerCase(), providerId.toUpperCase()].map((id) => ({ providerId: id, transactionId })),
      );
    },
  },
  {
    id: 'ids-punctuation',
    title: 'takes a transactionId with any printable ASCII character',
    rule: RULES.identifiers,
    run: (caller) =>
      expectMovement(caller, -caller.stakeMinor, async () => {
        const bet = caller.bet({ transactionId: caller.calls.fresh(PUNCTUATION) });
        expectApproved(await caller.decide(bet));
        expectApproved(await caller.decide(bet), 'APPROVED the second time too');
      }),
  },
  {
    id: 'fields-punctuation',
    title: 'takes a roundId, a gameId and a promotionRef with any printable ASCII character',
    rule: RULES.identifiers,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const [roundId, gameId] = [caller.calls.fresh(PUNCTUATION), caller.calls.fresh(PUNCTUATION)];
        expectApproved(await caller.decide(caller.bet({ roundId, gameId })));
        const promotionRef = caller.calls.fresh(PUNCTUATION);
        expectApproved(await caller.decide(caller.win({ roundId, gameId, promotionRef })));
      }),
  },
  {
    id: 'ids-wildcards',
    title: 'takes no character of a transactionId for a pattern',
    rule: RULES.identifiers,
    run: async (caller) => {
      const start = caller.calls.fresh('bet');
      const ids = [`${start}axb`, `${start}a_b`, `${start}a%b`, `${start}a*b`, `${start}a.b`, `${start}a?b`];
      const { providerId } = caller.wallet;
      await bookAll(
        caller,
        ids.map((transactionId) => ({ providerId, transactionId })),
      );
    },
  },
  {
    id: 'ids-meaningful',
    title: 'takes no transactionId for a keyword or a property of an object',
    rule: RULES.identifiers,
    run: (caller) => bookOfOwnProvider(caller, MEANINGFUL_IDS),
  },
  {
    id: 'ids-numeric',
    title: 'takes no transactionId for a number',
    rule: RULES.identifiers,
    run: (caller) => bookOfOwnProvider(caller, NUMERIC_IDS),
  },
];

/** A providerId that no other run uses, for transactionIds that are the same in every run. */
function ownProviderId({ calls }: WalletCaller): string {
  return calls.fresh('provider').slice(0, 40);
}

function bookOfOwnProvider(caller: WalletCaller, ids: readonly string[]): Promise<void> {
  const providerId = ownProviderId(caller);
  return bookAll(
    caller,
    ids.map((transactionId) => ({ providerId, transactionId })),
  );
}

/** Books a BET of one minor unit for each of these identities, and expects that each of them moves money. */
async function bookAll(
  caller: WalletCaller,
  identities: readonly Pick<WalletOrder, 'providerId' | 'transactionId'>[],
): Promise<void> {
  await expectMovement(caller, -identities.length, async () => {
    for (const identity of identities) {
      const decision = await caller.decide(caller.bet({ ...identity, amountMinor: 1 }));
      expectApproved(decision, `APPROVED for ${identity.providerId} ${identity.transactionId}`);
    }
  });
}
