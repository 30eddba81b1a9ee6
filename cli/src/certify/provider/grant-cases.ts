import { Unmet } from '../outcome.js';
import { describeReply } from '../../reply.js';
import type { GrantBody, ProviderCaller } from './caller.js';
import {
  expectDifferent,
  expectRefusal,
  expectRemaining,
  expectSame,
  externalRefIn,
  firstBatch,
  grantBatch,
  grantBody,
} from './expectations.js';
import { AT_ONCE, atOnce, type ProviderCase } from './provider-case.js';
import { UNKNOWN_FIELDS } from '../unknown-fields.js';
import { RULES } from './rules.js';

/** The length of the longest requestRef, in characters. */
const LONGEST_REF = 128;
const GREATEST_STAKE_MINOR = Number.MAX_SAFE_INTEGER;
const SPECIAL_CHARACTERS = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~&amp;%41';

const NEW: ProviderCase[] = [
  {
    id: 'grant-reference',
    title: 'answers a grant with an externalRef',
    rule: RULES.grant,
    run: async (caller) => {
      await firstBatch(caller);
    },
  },
  {
    id: 'grant-unknown-fields',
    title: 'ignores fields of a grant that it does not know',
    rule: RULES.unknownFields,
    run: async (caller) =>
      void externalRefIn(await caller.call('grant', { ...grantBody(caller), ...UNKNOWN_FIELDS })),
  },
  {
    id: 'grant-default-stake',
    title: 'treats betAmountMinor 0 as its default stake',
    rule: RULES.defaultStake,
    run: async (caller) =>
      void externalRefIn(await caller.call('grant', grantBody(caller, { betAmountMinor: 0 }))),
  },
  {
    id: 'grant-one-spin',
    title: 'grants a single spin',
    rule: RULES.spins,
    run: async (caller) => expectRemaining(caller, await grantBatch(caller, { spins: 1 }), 1),
  },
  {
    id: 'grant-many-spins',
    title: 'grants a thousand spins',
    rule: RULES.spins,
    run: async (caller) => expectRemaining(caller, await grantBatch(caller, { spins: 1000 }), 1000),
  },
  {
    id: 'grants-at-once',
    title: `answers ${AT_ONCE} different grants at once with as many externalRefs`,
    rule: RULES.grant,
    run: async (caller) =>
      expectDifferent(
        (await atOnce(() => caller.call('grant', grantBody(caller)))).map((reply) => externalRefIn(reply)),
      ),
  },
  {
    id: 'grant-after-grant',
    title: 'keeps two grants for one player apart',
    rule: RULES.grant,
    run: async (caller) => {
      const [first, second] = [
        await grantBatch(caller, { spins: 2 }),
        await grantBatch(caller, { spins: 3 }),
      ];
      expectDifferent([first.externalRef, second.externalRef]);
      await expectRemaining(caller, first, 2);
      await expectRemaining(caller, second, 3);
    },
  },
  {
    id: 'grant-greatest-stake',
    title: 'books or refuses the greatest stake, without failing',
    rule: RULES.bookedOrRefused,
    run: (caller) => expectBookedOrRefused(caller, { betAmountMinor: GREATEST_STAKE_MINOR }),
  },
  {
    id: 'grant-unknown-player',
    title: 'books or refuses a grant for an unknown player or game, without failing',
    rule: RULES.bookedOrRefused,
    run: async (caller) => {
      await expectBookedOrRefused(caller, { playerRef: caller.calls.fresh('player') });
      await expectBookedOrRefused(caller, { gameId: caller.calls.fresh('game') });
    },
  },
];

const REFERENCES: ProviderCase[] = [
  {
    id: 'grant-reference-case',
    title: 'distinguishes two requestRefs that differ only in upper and lower case',
    rule: RULES.references,
    run: async (caller) => {
      const reference = caller.calls.fresh('grant');
      await expectTwoGrants(caller, `${reference}-a`, `${reference}-A`);
    },
  },
  {
    id: 'grant-reference-long',
    title: `distinguishes two requestRefs of ${LONGEST_REF} characters that differ in the last one`,
    rule: RULES.references,
    run: async (caller) => {
      const start = caller.calls.fresh('grant').padEnd(LONGEST_REF - 1, '-');
      await expectTwoGrants(caller, `${start}1`, `${start}2`);
    },
  },
  {
    id: 'grant-reference-characters',
    title: 'takes every printable ASCII character of a requestRef as it is',
    rule: RULES.references,
    run: async (caller) => {
      const reference = caller.calls.fresh('grant') + SPECIAL_CHARACTERS;
      await expectTwoGrants(caller, reference, reference.replace('%41', 'A'));
      await expectTwoGrants(caller, `${reference}2`, `${reference}2`.replace('&amp;', '&'));
      await expectTwoGrants(caller, `${reference}3/`, `${reference}3:`);
    },
  },
];

const INVALID: ProviderCase[] = [
  {
    id: 'grant-incomplete',
    title: 'refuses a grant without a requestRef',
    rule: RULES.invalid,
    run: async (caller) =>
      expectRefusal(await caller.call('grant', { ...grantBody(caller), requestRef: undefined })),
  },
  {
    id: 'grant-broken',
    title: 'refuses a body that is not JSON',
    rule: RULES.invalid,
    run: async (caller) => expectRefusal(await caller.call('grant', '{"requestRef":')),
  },
  {
    id: 'grant-not-an-object',
    title: 'refuses a body that is a list, or is empty',
    rule: RULES.invalid,
    run: async (caller) => {
      for (const body of ['[]', ''])
        expectRefusal(await caller.call('grant', body), `for the body ${JSON.stringify(body)}`);
    },
  },
];

export const GRANT_CASES = [...NEW, ...REFERENCES, ...INVALID];

async function expectBookedOrRefused(caller: ProviderCaller, fields: Partial<GrantBody>): Promise<void> {
  const reply = await caller.call('grant', grantBody(caller, fields));
  if (reply.status === 200) return void externalRefIn(reply);
  if (reply.status >= 400 && reply.status <= 499 && reply.status !== 401) return;
  throw new Unmet('status 200, or a 4xx other than 401', describeReply(reply));
}

async function expectTwoGrants(caller: ProviderCaller, one: string, other: string): Promise<void> {
  const grant = async (requestRef: string) =>
    externalRefIn(await caller.call('grant', grantBody(caller, { requestRef })));
  const [first, second] = [await grant(one), await grant(other)];
  expectDifferent([first, second]);
  expectSame([first, await grant(one)]);
}
