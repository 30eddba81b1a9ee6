import { describeReply } from '../../reply.js';
import { Unmet } from '../outcome.js';
import { SIGNATURE_RULES } from '../signature-rules.js';
import { rememberedNonce } from '../signed-calls.js';
import { expectOk } from '../target.js';
import {
  expectRemaining,
  expectSame,
  externalRefIn,
  firstBatch,
  firstCancelledBatch,
  firstRevocation,
  referenceTo,
} from './expectations.js';
import type { ProviderCase } from './provider-case.js';
import { RULES } from './rules.js';

/** Run after all others: they repeat calls of the beginning, which a server with a short memory has forgotten. */
export const MEMORY_CASES: ProviderCase[] = [
  {
    // The first one, because a nonce need not be remembered for as long as the others may wait.
    id: 'first-nonce-replayed',
    title: 'refuses the nonce of the first grant at the end',
    rule: SIGNATURE_RULES.nonceOnce,
    run: async (caller) => {
      const { used, externalRef: _, ...body } = await firstBatch(caller);
      const { calls, provider } = caller;
      const nonce = await rememberedNonce(calls, provider.patienceMs, used, async () => {
        const again = calls.freshNonce();
        expectOk(await caller.call('grant', body, { nonce: again.nonce }));
        return again;
      });
      const reply = await caller.call('grant', body, { nonce });
      if (reply.status !== 401) throw new Unmet('status 401', describeReply(reply));
    },
  },
  {
    id: 'first-grant-repeated',
    title: 'answers the first grant of the run with the same externalRef at the end',
    rule: RULES.remembered,
    run: async (caller) => {
      const { externalRef, used: _, ...body } = await firstBatch(caller);
      await caller.untilOld('batch');
      expectSame([externalRef, externalRefIn(await caller.call('grant', body))]);
      await expectRemaining(caller, { externalRef, ...body }, body.spins);
    },
  },
  {
    id: 'first-cancel-repeated',
    title: 'answers the first cancel of the run with 200 at the end, and leaves its spins voided',
    rule: RULES.remembered,
    run: async (caller) => {
      const { externalRef, ...body } = await firstCancelledBatch(caller);
      const batch = { externalRef, ...body };
      await caller.untilOld('cancelledBatch');
      expectOk(await caller.call('cancel', referenceTo(batch)));
      expectSame([externalRef, externalRefIn(await caller.call('grant', body))]);
      await expectRemaining(caller, batch, 0);
    },
  },
  {
    id: 'first-revocation-repeated',
    title: 'answers the first revocation of the run with 200 at the end',
    rule: RULES.remembered,
    run: async (caller) => {
      const body = await firstRevocation(caller);
      await caller.untilOld('revocation');
      expectOk(await caller.call('revoke', body));
    },
  },
];
