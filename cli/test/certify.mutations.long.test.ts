import { describe, expect, onTestFinished, test } from 'vitest';
import { type AtEnd, certify, only } from './support/certified.js';
import * as batches from './support/mutations/batches.js';
import * as calls from './support/mutations/calls.js';
import * as grants from './support/mutations/grants.js';
import type { Mutation } from './support/mutations/mutation.js';
import { delay } from './support/mutations/mutation.js';
import {
  type Behaviour,
  ok,
  PLAY_PATH,
  ReferenceProvider,
  refused,
  RIGHT,
  SECRET,
  TENANT,
} from './support/reference-provider.js';

async function certified(mutation: Mutation[1], options: string[] = [], atEnd: AtEnd = onTestFinished) {
  const provider = await ReferenceProvider.start(typeof mutation === 'function' ? mutation() : mutation);
  atEnd(() => provider.stop());
  const args = ['certify', '--webhook-base-url', provider.url, '--tenant', TENANT, '--play-path', PLAY_PATH];
  return certify(
    [...args, '--slow-ms', '10', '--patience-seconds', '1', '--calls', '20', ...options],
    SECRET,
    atEnd,
  );
}

const MUTATIONS = [grants, batches, calls].flatMap((lists) => Object.values(lists).flat());

test('the planted mistakes are many, and each has a name of its own', () => {
  expect(MUTATIONS.length).toBeGreaterThan(120);
  expect(new Set(MUTATIONS.map(([name]) => name)).size).toBe(MUTATIONS.length);
});

describe.concurrent('a provider', () => {
  test.for(MUTATIONS)(
    'that %s is found',
    async ([, mutation, found, needs], { expect, onTestFinished: atEnd }) => {
      const options = needs === 'whole run' ? [] : only(found);
      const { status, failed, blocked } = await certified(mutation, options, atEnd);
      expect([...failed, ...blocked]).toContain(found);
      expect(status).toBe(1);
    },
  );
});

test.each<[string, Partial<Behaviour>]>([
  ['does nothing special', {}],
  ['takes 30 ms for each call', { work: () => delay(30) }],
  ['takes up to 100 ms for a call', { work: () => delay(Math.random() * 100) }],
  [
    'answers cancels and revocations without a body',
    { cancel: (...all) => empty(RIGHT.cancel(...all)), revoke: () => empty(ok()) },
  ],
  ['answers 410 for unknown batches', { unknown: () => refused(410) }],
  ['answers 403 for unknown batches', { unknown: () => refused(403) }],
  [
    'answers 422 for bodies that are no JSON',
    { finish: (answer) => (answer.status === 400 ? refused(422) : answer) },
  ],
  [
    'shows a cancelled batch as completed',
    { status: ({ remaining }) => ok({ remainingSpins: remaining, completed: remaining === 0 }) },
  ],
  [
    'names batches with 256 characters of two code units',
    { newReference: ({ batches: { size } }) => '𝄞'.repeat(248) + String(size).padStart(8, '0') },
  ],
  [
    'answers with more fields than it needs',
    {
      finish: (answer) =>
        typeof answer.body === 'string' ? answer : { ...answer, body: { ...answer.body, extra: [1] } },
    },
  ],
  [
    'closes each connection',
    {
      finish: (answer) => ({
        ...answer,
        headers: { 'Content-Type': 'application/json; charset=UTF-8', Connection: 'close' },
      }),
    },
  ],
  [
    'refuses a stake that is too high',
    {
      objection: (grant) =>
        RIGHT.objection(grant) ?? (Number(grant['betAmountMinor']) > 100_000 ? refused(422) : undefined),
    },
  ],
])('a right provider that %s passes every case', async (_, mutation) => {
  expect(await certified(mutation)).toMatchObject({ status: 0, failed: [], blocked: [] });
});

function empty(answer: object) {
  return { ...answer, status: 200, body: '', headers: {} };
}
