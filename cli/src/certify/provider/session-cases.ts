import type { Case } from '../outcome.js';
import { expectOk } from '../target.js';
import type { ProviderCaller } from './caller.js';
import { revocationBody } from './expectations.js';
import { RULES } from './rules.js';

const REASONS = ['KICK', 'SELF_EXCLUSION', 'FRAUD_HOLD', 'OTHER'];
const AT_ONCE = 10;

export const SESSION_CASES: Case<ProviderCaller>[] = [
  {
    id: 'revoke-answered',
    group: 'revoke',
    title: 'answers a revocation with 200',
    rule: RULES.revoke,
    run: async (caller) => expectOk(await caller.call('revoke', revocationBody(caller))),
  },
  {
    id: 'revoke-every-reason',
    group: 'revoke',
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
    group: 'revoke',
    title: 'answers a repeated revocation with 200',
    rule: RULES.revokeRepeated,
    run: async (caller) => {
      const body = revocationBody(caller);
      await caller.call('revoke', body);
      expectOk(await caller.call('revoke', body), 'status 200 the second time too');
    },
  },
  {
    id: 'revoke-unknown-fields',
    group: 'revoke',
    title: 'ignores fields of a revocation that it does not know',
    rule: RULES.unknownFields,
    run: async (caller) =>
      expectOk(await caller.call('revoke', revocationBody(caller, { certifyFlag: true }))),
  },
  {
    id: 'revoke-at-once',
    group: 'revoke',
    title: `answers ${AT_ONCE} revocations at once with 200`,
    rule: RULES.revoke,
    run: async (caller) => {
      const calls = Array.from({ length: AT_ONCE }, () => caller.call('revoke', revocationBody(caller)));
      for (const reply of await Promise.all(calls)) expectOk(reply, 'status 200 each time');
    },
  },
];
