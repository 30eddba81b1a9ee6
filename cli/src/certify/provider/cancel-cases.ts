import { Unmet } from '../outcome.js';
import { expectOk } from '../target.js';
import {
  expectRefusal,
  expectRemaining,
  expectSame,
  externalRefIn,
  firstCancelledBatch,
  grantBatch,
  playSpin,
  referenceTo,
} from './expectations.js';
import { AT_ONCE, atOnce, type ProviderCase, withoutPlay } from './provider-case.js';
import { UNKNOWN_FIELDS } from '../unknown-fields.js';
import { RULES } from './rules.js';
import { incomplete, ofAnotherPlayerOrGame, ofSimilarReference } from './unknown-batch-cases.js';

export const CANCEL_CASES: ProviderCase[] = [
  {
    id: 'cancel-answered',
    title: 'answers a cancel with 200',
    rule: RULES.cancel,
    run: async (caller) => {
      await firstCancelledBatch(caller);
    },
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
      for (const reply of await atOnce(() => caller.call('cancel', referenceTo(batch))))
        expectOk(reply, 'status 200 each time');
      await expectRemaining(caller, batch, 0);
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
      const [before, cancelled, after] = [
        await grantBatch(caller),
        await grantBatch(caller),
        await grantBatch(caller),
      ];
      await caller.call('cancel', referenceTo(cancelled));
      for (const other of [before, after]) await expectRemaining(caller, other, other.spins);
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
  {
    id: 'cancel-then-grant-reference',
    title: 'answers a grant that is repeated after its cancel with the same externalRef',
    rule: RULES.undone,
    run: async (caller) => {
      const { externalRef, ...body } = await grantBatch(caller);
      await caller.call('cancel', referenceTo({ externalRef, ...body }));
      expectSame([externalRef, externalRefIn(await caller.call('grant', body))]);
    },
  },
  {
    id: 'cancel-and-grant-at-once',
    title: 'leaves no spins if a cancel and repetitions of its grant arrive at the same time',
    rule: RULES.undone,
    run: async (caller) => {
      const { externalRef, ...body } = await grantBatch(caller);
      const batch = { externalRef, ...body };
      await atOnce((index) =>
        index === AT_ONCE >> 1 ? caller.call('cancel', referenceTo(batch)) : caller.call('grant', body),
      );
      await expectRemaining(caller, batch, 0);
    },
  },
  {
    id: 'cancel-unknown-batch',
    title: 'refuses the cancel of a batch that it never granted',
    rule: RULES.unknownBatch,
    run: async (caller) => {
      const { playerRef, gameId } = caller.provider;
      const externalRef = caller.calls.fresh('batch');
      expectRefusal(await caller.call('cancel', { externalRef, playerRef, gameId }));
    },
  },
  ...ofAnotherPlayerOrGame('cancel', 'cancels no batch'),
  ofSimilarReference('cancel', 'cancels no batch'),
  incomplete('cancel'),
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
    id: 'cancel-after-last-spin',
    title: 'answers the cancel of a batch whose spins are all played with 200',
    rule: RULES.cancelRepeated,
    skipped: withoutPlay,
    run: async (caller) => {
      const batch = await grantBatch(caller, { spins: 1 });
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
