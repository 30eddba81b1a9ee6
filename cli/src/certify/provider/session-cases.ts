import { expectOk } from '../target.js';
import { expectRefusal, firstRevocation, revocationBody } from './expectations.js';
import { AT_ONCE, atOnce, type ProviderCase } from './provider-case.js';
import { RULES } from './rules.js';

const REASONS = ['KICK', 'SELF_EXCLUSION', 'FRAUD_HOLD', 'OTHER'];

export const SESSION_CASES: ProviderCase[] = [
  {
    id: 'revoke-answered',
    title: 'answers a revocation with 200',
    rule: RULES.revoke,
    run: async (caller) => {
      await firstRevocation(caller);
    },
  },
  {
    id: 'revoke-every-reason',
    title: 'takes every reason of a revocation',
    rule: RULES.revoke,
    run: async (caller) => {
      for (const reason of REASONS) {
        expectOk(await caller.call('revoke', revocationBody(caller, { reason })), `status 200 for ${reason}`);
      }
    },
  },
  {
    id: 'revoke-repeated',
    title: 'answers a repeated revocation with 200',
    rule: RULES.revokeRepeated,
    run: async (caller) => {
      const body = revocationBody(caller);
      await caller.call('revoke', body);
      expectOk(await caller.call('revoke', body), 'status 200 the second time too');
    },
  },
  {
    id: 'revoke-after-revoke',
    title: 'answers a second revocation of a session, for another reason, with 200',
    rule: RULES.revokeRepeated,
    run: async (caller) => {
      const body = revocationBody(caller);
      await caller.call('revoke', body);
      const second = { ...body, revocationRef: caller.calls.fresh('revocation'), reason: 'OTHER' };
      expectOk(await caller.call('revoke', second), 'status 200 for the second revocation too');
    },
  },
  {
    id: 'revoke-unknown-fields',
    title: 'ignores fields of a revocation that it does not know',
    rule: RULES.unknownFields,
    run: async (caller) =>
      expectOk(await caller.call('revoke', revocationBody(caller, { certifyFlag: true }))),
  },
  {
    id: 'revoke-at-once',
    title: `answers ${AT_ONCE} revocations at once with 200`,
    rule: RULES.revoke,
    run: async (caller) => {
      for (const reply of await atOnce(() => caller.call('revoke', revocationBody(caller))))
        expectOk(reply, 'status 200 each time');
    },
  },
  {
    id: 'revoke-repeated-at-once',
    title: `answers ${AT_ONCE} equal revocations at once with 200`,
    rule: RULES.revokeRepeated,
    run: async (caller) => {
      const body = revocationBody(caller);
      for (const reply of await atOnce(() => caller.call('revoke', body)))
        expectOk(reply, 'status 200 each time');
    },
  },
  {
    id: 'revoke-broken',
    title: 'refuses a revocation whose body is not JSON',
    rule: RULES.invalid,
    run: async (caller) => expectRefusal(await caller.call('revoke', '{"sessionId":')),
  },
];
