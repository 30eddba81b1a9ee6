import {
  expectRefusal,
  expectDifferent,
  expectRemaining,
  expectSame,
  externalRefIn,
  grantBody,
  grantBatch,
  referenceTo,
  playSpin,
  statusOf,
} from './expectations.js';
import type { ProviderCaller } from './caller.js';
import { type Case, Unmet } from '../outcome.js';
import { RULES } from './rules.js';
import { wrongSecret } from '../signature-cases.js';
import { expectOk } from '../target.js';

type FreeSpinsCase = Omit<Case<ProviderCaller>, 'group'>;

const AT_ONCE = 10;
const UNKNOWN_FIELDS = { certifyUnknown: { list: [1, 'two', null] }, certifyFlag: true };

const GRANT: FreeSpinsCase[] = [
  {
    id: 'grant-reference',
    title: 'answers a grant with an externalRef',
    rule: RULES.grant,
    run: async (caller) => void externalRefIn(await caller.call('grant', grantBody(caller))),
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
    },
  },
  {
    id: 'grant-repeated-at-once',
    title: `answers ${AT_ONCE} equal grants at once with one externalRef`,
    rule: RULES.atOnce,
    run: async (caller) => {
      const body = grantBody(caller);
      const calls = Array.from({ length: AT_ONCE }, () => caller.call('grant', body));
      expectSame((await Promise.all(calls)).map(externalRefIn));
    },
  },
  {
    id: 'grants-at-once',
    title: `answers ${AT_ONCE} different grants at once with as many externalRefs`,
    rule: RULES.grant,
    run: async (caller) => {
      const calls = Array.from({ length: AT_ONCE }, () => caller.call('grant', grantBody(caller)));
      expectDifferent((await Promise.all(calls)).map(externalRefIn));
    },
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
];

const STATUS: FreeSpinsCase[] = [
  {
    id: 'status-after-grant',
    title: 'shows a new batch with all its spins and not completed',
    rule: RULES.status,
    run: async (caller) => {
      const batch = await grantBatch(caller);
      const status = await statusOf(caller, batch);
      if (status.remainingSpins === batch.spins && !status.completed) return;
      throw new Unmet(`remainingSpins ${batch.spins}, completed false`, JSON.stringify(status));
    },
  },
  {
    id: 'status-repeated',
    title: 'changes nothing when it is asked for the status',
    rule: RULES.statusReads,
    run: async (caller) => {
      const batch = await grantBatch(caller);
      for (let times = 0; times < 3; times += 1) await expectRemaining(caller, batch, batch.spins);
    },
  },
  {
    id: 'status-at-once',
    title: `answers ${AT_ONCE} status calls at once`,
    rule: RULES.statusReads,
    run: async (caller) => {
      const batch = await grantBatch(caller);
      await Promise.all(Array.from({ length: AT_ONCE }, () => expectRemaining(caller, batch, batch.spins)));
    },
  },
  {
    id: 'status-unknown-fields',
    title: 'ignores fields of a status call that it does not know',
    rule: RULES.unknownFields,
    run: async (caller) => {
      const batch = await grantBatch(caller);
      expectOk(await caller.call('status', { ...referenceTo(batch), ...UNKNOWN_FIELDS }));
    },
  },
  {
    id: 'status-unknown-batch',
    title: 'refuses the status of a batch that it never granted',
    rule: RULES.unknownBatch,
    run: async (caller) => {
      const { playerRef, gameId } = caller.provider;
      expectRefusal(
        await caller.call('status', { externalRef: caller.calls.fresh('batch'), playerRef, gameId }),
      );
    },
  },
  ...ofAnotherPlayerOrGame('status', 'shows no batch'),
  {
    id: 'status-after-spin',
    title: 'shows one spin fewer after a spin',
    rule: RULES.status,
    skipped: withoutPlay,
    run: async (caller) => {
      const batch = await grantBatch(caller);
      await playSpin(caller, batch);
      await expectRemaining(caller, batch, batch.spins - 1);
    },
  },
  {
    id: 'status-after-last-spin',
    title: 'shows a batch as completed after its last spin',
    rule: RULES.status,
    skipped: withoutPlay,
    run: async (caller) => {
      const batch = await grantBatch(caller, { spins: 1 });
      await playSpin(caller, batch);
      const status = await statusOf(caller, batch);
      if (status.remainingSpins === 0 && status.completed) return;
      throw new Unmet('remainingSpins 0, completed true', JSON.stringify(status));
    },
  },
];

const CANCEL: FreeSpinsCase[] = [
  {
    id: 'cancel-answered',
    title: 'answers a cancel with 200',
    rule: RULES.cancel,
    run: async (caller) => expectOk(await caller.call('cancel', referenceTo(await grantBatch(caller)))),
  },
  {
    id: 'cancel-voids-spins',
    title: 'leaves no spins in a batch that was cancelled',
    rule: RULES.cancel,
    run: async (caller) => {
      const batch = await grantBatch(caller);
      await caller.call('cancel', referenceTo(batch));
      await expectRemaining(caller, batch, 0);
    },
  },
  {
    id: 'cancel-repeated',
    title: 'answers a repeated cancel with 200',
    rule: RULES.cancelRepeated,
    run: async (caller) => {
      const batch = await grantBatch(caller);
      await caller.call('cancel', referenceTo(batch));
      expectOk(await caller.call('cancel', referenceTo(batch)), 'status 200 the second time too');
    },
  },
  {
    id: 'cancel-at-once',
    title: `answers ${AT_ONCE} cancels of one batch at once with 200`,
    rule: RULES.cancelRepeated,
    run: async (caller) => {
      const batch = await grantBatch(caller);
      const calls = Array.from({ length: AT_ONCE }, () => caller.call('cancel', referenceTo(batch)));
      for (const reply of await Promise.all(calls)) expectOk(reply, 'status 200 each time');
    },
  },
  {
    id: 'cancel-unknown-fields',
    title: 'ignores fields of a cancel that it does not know',
    rule: RULES.unknownFields,
    run: async (caller) => {
      const batch = await grantBatch(caller);
      expectOk(await caller.call('cancel', { ...referenceTo(batch), ...UNKNOWN_FIELDS }));
    },
  },
  {
    id: 'cancel-leaves-others',
    title: 'does not change the other batches of a player',
    rule: RULES.cancel,
    run: async (caller) => {
      const [cancelled, other] = [await grantBatch(caller), await grantBatch(caller)];
      await caller.call('cancel', referenceTo(cancelled));
      await expectRemaining(caller, other, other.spins);
    },
  },
  {
    id: 'cancel-then-grant',
    title: 'restores nothing when a grant is repeated after its cancel',
    rule: RULES.undone,
    run: async (caller) => {
      const { externalRef, ...body } = await grantBatch(caller);
      const batch = { externalRef, ...body };
      await caller.call('cancel', referenceTo(batch));
      await caller.call('grant', body);
      await expectRemaining(caller, batch, 0);
    },
  },
  ...ofAnotherPlayerOrGame('cancel', 'cancels no batch'),
  {
    id: 'cancel-after-spins',
    title: 'cancels the remaining spins after some were played',
    rule: RULES.cancel,
    skipped: withoutPlay,
    run: async (caller) => {
      const batch = await grantBatch(caller);
      await playSpin(caller, batch);
      await playSpin(caller, batch);
      expectOk(await caller.call('cancel', referenceTo(batch)));
      await expectRemaining(caller, batch, 0);
    },
  },
  {
    id: 'cancel-ends-play',
    title: 'plays no spin of a batch that was cancelled',
    rule: RULES.cancelEnds,
    skipped: withoutPlay,
    run: async (caller) => {
      const batch = await grantBatch(caller);
      await playSpin(caller, batch);
      await caller.call('cancel', referenceTo(batch));
      const reply = await caller.play(referenceTo(batch));
      if (reply.status === 200) throw new Unmet('any status but 200 for a spin', 'status 200');
    },
  },
];

const SIGNATURE: FreeSpinsCase[] = [
  {
    id: 'refused-call-changes-nothing',
    title: 'does not carry out a call that it refuses',
    rule: RULES.refused,
    run: async (caller) => {
      const batch = await grantBatch(caller);
      await caller.call('cancel', referenceTo(batch), wrongSecret(caller.calls));
      await expectRemaining(caller, batch, batch.spins);
    },
  },
];

const grouped = (group: string, cases: FreeSpinsCase[]): Case<ProviderCaller>[] =>
  cases.map((each) => ({ ...each, group }));

export const FREE_SPINS_CASES = [
  ...grouped('signature', SIGNATURE),
  ...grouped('grant', GRANT),
  ...grouped('status', STATUS),
  ...grouped('cancel', CANCEL),
];

/** Callbacks that name a batch also name its player and game: all three must match. */
function ofAnotherPlayerOrGame(callback: 'status' | 'cancel', does: string): FreeSpinsCase[] {
  const fields = { playerRef: 'player', gameId: 'game' } as const;
  return (['playerRef', 'gameId'] as const).map((field) => ({
    id: `${callback}-another-${fields[field]}`,
    title: `${does} under another ${field}`,
    rule: RULES.unknownBatch,
    run: async (caller) => {
      const batch = await grantBatch(caller);
      const reply = await caller.call(callback, {
        ...referenceTo(batch),
        [field]: caller.calls.fresh(fields[field]),
      });
      expectRefusal(reply);
      await expectRemaining(caller, batch, batch.spins);
    },
  }));
}

function withoutPlay({ provider }: ProviderCaller): string | undefined {
  return provider.playPath === undefined
    ? 'a spin has to be played: name a route that plays one with --play-path'
    : undefined;
}
