import { Unmet } from '../outcome.js';
import { expectOk } from '../target.js';
import {
  expectRefusal,
  expectRemaining,
  grantBatch,
  playSpin,
  referenceTo,
  statusOf,
} from './expectations.js';
import { AT_ONCE, atOnce, type ProviderCase, withoutPlay } from './provider-case.js';
import { UNKNOWN_FIELDS } from '../unknown-fields.js';
import { RULES } from './rules.js';
import { incomplete, ofAnotherPlayerOrGame, ofSimilarReference } from './unknown-batch-cases.js';

export const STATUS_CASES: ProviderCase[] = [
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
      await atOnce(() => expectRemaining(caller, batch, batch.spins));
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
      const externalRef = caller.calls.fresh('batch');
      expectRefusal(await caller.call('status', { externalRef, playerRef, gameId }));
    },
  },
  ...ofAnotherPlayerOrGame('status', 'shows no batch'),
  ofSimilarReference('status', 'shows no batch'),
  incomplete('status'),
  {
    id: 'status-after-spin',
    title: 'shows one spin fewer after a spin',
    rule: RULES.status,
    skipped: withoutPlay,
    run: async (caller) => {
      const batch = await grantBatch(caller);
      await playSpin(caller, batch);
      const status = await statusOf(caller, batch);
      if (status.remainingSpins === batch.spins - 1 && !status.completed) return;
      throw new Unmet(`remainingSpins ${batch.spins - 1}, completed false`, JSON.stringify(status));
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
