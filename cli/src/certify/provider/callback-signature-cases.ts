import { CALLBACK_ROUTES, type CallbackName } from '@croupier/provider-sdk';
import { Unmet } from '../outcome.js';
import { describeReply, type Reply } from '../../reply.js';
import { wrongSecret } from '../signature-cases.js';
import { SIGNATURE_RULES } from '../signature-rules.js';
import { type Deviation, type SignedCalls } from '../signed-calls.js';
import { expectOk } from '../target.js';
import type { ProviderCaller } from './caller.js';
import {
  expectRemaining,
  externalRefIn,
  grantBatch,
  grantBody,
  referenceTo,
  revocationBody,
} from './expectations.js';
import type { ProviderCase } from './provider-case.js';
import { RULES } from './rules.js';

/** The cases about signatures that are for providers only, or for each of their routes. */
export const CALLBACK_SIGNATURE_CASES: ProviderCase[] = [
  {
    id: 'refused-call-changes-nothing',
    title: 'does not carry out a call that it refuses',
    rule: SIGNATURE_RULES.refused,
    run: async (caller) => {
      const batch = await grantBatch(caller);
      await caller.call('cancel', referenceTo(batch), wrongSecret(caller.calls));
      await expectRemaining(caller, batch, batch.spins);
    },
  },
  {
    id: 'refused-grant-books-nothing',
    title: 'does not book a grant that it refuses, and does not use up its requestRef',
    rule: SIGNATURE_RULES.refused,
    run: async (caller) => {
      const body = grantBody(caller);
      await caller.call('grant', { ...body, spins: body.spins + 1 }, wrongSecret(caller.calls));
      const externalRef = externalRefIn(await caller.call('grant', body));
      await expectRemaining(caller, { ...body, externalRef }, body.spins);
    },
  },
  onEveryRoute('secret', 'a call that was signed with another secret', wrongSecret),
  onEveryRoute('tenant', 'a call for another tenant', ({ endpoint }) => ({
    tenantId: `${endpoint.tenantId}-x`.slice(-64),
  })),
  onEveryRoute('old', 'a timestamp six minutes old', (calls) => ({
    timestamp: String(calls.nowSeconds() - 360),
  })),
  onEveryRoute('future', 'a timestamp six minutes ahead', (calls) => ({
    timestamp: String(calls.nowSeconds() + 360),
  })),
  onEveryRoute('body', 'a body that was changed', () => ({ signedBody: '{}' })),
  onEveryRoute('empty-body', 'a signature over an empty body', () => ({ signedBody: '' })),
  onEveryRoute('unsigned', 'a call without a signature', () => ({
    headers: ({ 'Content-Type': type = '' }) => ({ 'Content-Type': type }),
  })),
  {
    id: 'every-route-nonce',
    title: 'refuses a nonce that was used before, on every route',
    rule: RULES.everyRoute,
    run: async (caller) => {
      for (const name of callbackNames()) {
        const { nonce } = caller.calls.freshNonce();
        const body = await bodyOf(caller, name);
        expectOk(await caller.call(name, body, { nonce }), `status 200 for ${name} the first time`);
        expectUnauthorized(await caller.call(name, body, { nonce }), name);
      }
    },
  },
  {
    id: 'unknown-route',
    title: 'does not answer 200 on a route that it does not serve',
    rule: RULES.unknownRoute,
    run: async (caller) => {
      const reply = await caller.calls.post('/v1/game/free-spins/certify', grantBody(caller));
      if (reply.status === 200) throw new Unmet('any status but 200', describeReply(reply));
    },
  },
];

function onEveryRoute(
  name: string,
  what: string,
  deviation: (calls: SignedCalls) => Deviation,
): ProviderCase {
  return {
    id: `every-route-${name}`,
    title: `refuses ${what} on every route`,
    rule: RULES.everyRoute,
    run: async (caller) => {
      for (const route of callbackNames()) {
        const reply = await caller.call(route, await bodyOf(caller, route), deviation(caller.calls));
        expectUnauthorized(reply, route);
      }
    },
  };
}

function callbackNames(): CallbackName[] {
  return Object.keys(CALLBACK_ROUTES) as CallbackName[];
}

/** The body of a call that the provider carries out. */
async function bodyOf(caller: ProviderCaller, name: CallbackName): Promise<object> {
  if (name === 'grant') return grantBody(caller);
  return name === 'revoke' ? revocationBody(caller) : referenceTo(await grantBatch(caller));
}

function expectUnauthorized(reply: Reply, which: string): void {
  if (reply.status !== 401) throw new Unmet(`status 401 for ${which}`, describeReply(reply));
}
