import { CALLBACK_ROUTES } from '@croupier/provider-sdk';
import {
  expectRemaining,
  expectSame,
  externalRefIn,
  grantBatch,
  grantBody,
  referenceTo,
} from './expectations.js';
import type { ProviderCase } from './provider-case.js';
import { RULES } from './rules.js';
import { expectOk } from '../target.js';

/** The cases about calls whose connection ends before their answer. A person may send such a call again. */
export const LOST_CALL_CASES: ProviderCase[] = [
  {
    id: 'grant-answer-lost',
    title: 'answers a grant again whose caller did not wait for the first answer',
    rule: RULES.lost,
    run: async (caller) => {
      const body = grantBody(caller);
      await caller.calls.abandon(CALLBACK_ROUTES.grant, body);
      const first = externalRefIn(await caller.call('grant', body));
      expectSame([first, externalRefIn(await caller.call('grant', body))]);
      await expectRemaining(caller, { ...body, externalRef: first }, body.spins);
    },
  },
  {
    id: 'cancel-answer-lost',
    title: 'answers a cancel again whose caller did not wait for the first answer',
    rule: RULES.lost,
    run: async (caller) => {
      const batch = await grantBatch(caller);
      await caller.calls.abandon(CALLBACK_ROUTES.cancel, referenceTo(batch));
      expectOk(await caller.call('cancel', referenceTo(batch)));
      await expectRemaining(caller, batch, 0);
    },
  },
];
