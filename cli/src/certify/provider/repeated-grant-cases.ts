import { Unmet } from '../outcome.js';
import type { GrantBody, ProviderCaller } from './caller.js';
import {
  expectRefusal,
  expectRemaining,
  expectSame,
  externalRefIn,
  grantBatch,
  grantBody,
  playSpin,
  statusOf,
} from './expectations.js';
import { AT_ONCE, atOnce, type ProviderCase, withoutPlay } from './provider-case.js';
import { RULES } from './rules.js';

export const REPEATED_GRANT_CASES: ProviderCase[] = [
  {
    id: 'grant-repeated',
    title: 'answers the same grant with the same externalRef',
    rule: RULES.repeated,
    run: async (caller) => {
      const { externalRef, ...body } = await grantBatch(caller);
      expectSame([externalRef, externalRefIn(await caller.call('grant', body))]);
    },
  },
  {
    id: 'grant-repeated-adds-nothing',
    title: 'grants nothing more when a grant is repeated',
    rule: RULES.repeated,
    run: async (caller) => {
      const { externalRef, ...body } = await grantBatch(caller);
      await caller.call('grant', body);
      await expectRemaining(caller, { externalRef, ...body }, body.spins);
    },
  },
  {
    id: 'grant-repeated-spelled-anew',
    title: 'recognises a repeated grant by its requestRef, however its JSON is written',
    rule: RULES.repeated,
    run: async (caller) => {
      const { externalRef, ...body } = await grantBatch(caller);
      const reversed = Object.fromEntries(Object.entries({ ...body, certifyFlag: true }).reverse());
      expectSame([externalRef, externalRefIn(await caller.call('grant', JSON.stringify(reversed, null, 2)))]);
      expectSame([externalRef, externalRefIn(await caller.call('grant', escaped(body)))]);
    },
  },
  {
    id: 'grant-repeated-at-once',
    title: `answers ${AT_ONCE} equal grants at once with one externalRef`,
    rule: RULES.atOnce,
    run: async (caller) => {
      const body = grantBody(caller);
      const replies = await atOnce(() => caller.call('grant', body));
      expectSame(replies.map((reply) => externalRefIn(reply)));
    },
  },
  {
    id: 'grant-repeated-at-once-adds-nothing',
    title: `grants nothing more when a grant arrives ${AT_ONCE} times at once`,
    rule: RULES.atOnce,
    run: async (caller) => {
      const body = grantBody(caller);
      const replies = await atOnce(() => caller.call('grant', body));
      // Different externalRefs are the failure of another case; each of them must have the spins of one grant.
      for (const externalRef of new Set(replies.map((reply) => externalRefIn(reply))))
        await expectRemaining(caller, { ...body, externalRef }, body.spins);
    },
  },
  {
    id: 'grant-other-terms',
    title: 'answers a known requestRef with other terms with its first externalRef',
    rule: RULES.otherTerms,
    run: async (caller) => {
      const { externalRef, ...body } = await grantBatch(caller);
      for (const terms of otherTerms(caller, body))
        expectSame([externalRef, externalRefIn(await caller.call('grant', { ...body, ...terms }))]);
    },
  },
  {
    id: 'grant-other-terms-change-nothing',
    title: 'changes nothing when a known requestRef arrives with other terms',
    rule: RULES.otherTerms,
    run: async (caller) => {
      const { externalRef, ...body } = await grantBatch(caller);
      for (const terms of otherTerms(caller, body)) {
        await caller.call('grant', { ...body, ...terms });
        await expectRemaining(caller, { externalRef, ...body }, body.spins);
        const { playerRef, gameId } = { ...body, ...terms };
        if (playerRef === body.playerRef && gameId === body.gameId) continue;
        expectRefusal(await caller.call('status', { externalRef, playerRef, gameId }));
      }
    },
  },
  {
    id: 'grant-other-terms-at-once',
    title: `books one of ${AT_ONCE} grants at once with one requestRef and different spins`,
    rule: RULES.atOnce,
    run: async (caller) => {
      const body = grantBody(caller);
      const replies = await atOnce((index) => caller.call('grant', { ...body, spins: index + 1 }));
      const [externalRef = '', ...others] = replies.map((reply) => externalRefIn(reply));
      expectSame([externalRef, ...others]);
      const status = await statusOf(caller, { ...body, externalRef });
      if (status.remainingSpins >= 1 && status.remainingSpins <= AT_ONCE) return;
      throw new Unmet(`the spins of one grant, 1 to ${AT_ONCE}`, JSON.stringify(status));
    },
  },
  {
    id: 'grant-repeated-after-spin',
    title: 'gives no spin back when a grant is repeated',
    rule: RULES.undone,
    skipped: withoutPlay,
    run: async (caller) => {
      const { externalRef, ...body } = await grantBatch(caller);
      const batch = { externalRef, ...body };
      await playSpin(caller, batch);
      await caller.call('grant', body);
      await expectRemaining(caller, batch, body.spins - 1);
    },
  },
  {
    id: 'grant-repeated-after-last-spin',
    title: 'answers a grant whose spins are all played with the same externalRef',
    rule: RULES.undone,
    skipped: withoutPlay,
    run: async (caller) => {
      const { externalRef, ...body } = await grantBatch(caller, { spins: 1 });
      await playSpin(caller, { externalRef, ...body });
      expectSame([externalRef, externalRefIn(await caller.call('grant', body))]);
      await expectRemaining(caller, { externalRef, ...body }, 0);
    },
  },
];

/** Terms that differ from those of the grant, one field at a time. */
function otherTerms(caller: ProviderCaller, body: GrantBody): Partial<GrantBody>[] {
  return [
    { spins: body.spins + 4 },
    { spins: 1 },
    { betAmountMinor: body.betAmountMinor + 1 },
    { currency: body.currency === 'USD' ? 'EUR' : 'USD' },
    { playerRef: caller.calls.fresh('player') },
    { gameId: caller.calls.fresh('game') },
  ];
}

/** The same JSON with every character of its texts as an escape. */
function escaped(body: object): string {
  const text = (value: string) =>
    `"${[...value].map((sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`;
  const members = Object.entries(body).map(
    ([key, value]: [string, unknown]) =>
      `${text(key)}:${typeof value === 'string' ? text(value) : JSON.stringify(value)}`,
  );
  return `{${members.join(',')}}`;
}
