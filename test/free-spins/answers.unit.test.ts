import { describe, expect, test } from 'vitest';
import { type Answer, judgeCancel, judgeGrant, judgeStatus } from '../../src/free-spins/rules/answers.js';

const FIELDS = { externalRef: 'batch-1', remainingSpins: 3, completed: false };
const answered = (status: number, fields?: Record<string, unknown>, error?: string): Answer => ({
  kind: 'answered',
  status,
  ...(fields && { fields }),
  ...(error !== undefined && { error }),
});
const failed = (failure: object) => ({ ok: false, failure });

describe.each([
  ['a grant', judgeGrant, { externalRef: 'batch-1' }],
  ['a status call', judgeStatus, { remainingSpins: 3, completed: false }],
  ['a cancel', judgeCancel, {}],
])('%s', (_, judge, learned) => {
  test('succeeds with a 200 that has its fields', () => {
    expect(judge(answered(200, FIELDS))).toEqual({ ok: true, ...learned });
  });

  test.each([
    { statuses: [201, 202, 204, 299], outcomeUnknown: true, refused: false },
    { statuses: [199, 300, 302, 399, 500, 502, 503, 599], outcomeUnknown: false, refused: false },
    { statuses: [401, 403, 408, 409, 425, 429], outcomeUnknown: false, refused: false },
    { statuses: [400, 402, 404, 410, 422, 499], outcomeUnknown: false, refused: true },
  ])(
    'fails with $statuses: outcomeUnknown $outcomeUnknown, refused $refused',
    ({ statuses, outcomeUnknown, refused }) => {
      for (const status of statuses) {
        const error = `the provider answered ${status}`;
        expect(judge(answered(status, FIELDS))).toEqual(failed({ status, error, outcomeUnknown, refused }));
      }
    },
  );

  test.each([true, false])('fails without an answer; it may have arrived: %s', (mayHaveArrived) => {
    expect(judge({ kind: 'unanswered', error: 'ECONNRESET', mayHaveArrived })).toEqual(
      failed({ error: 'ECONNRESET', outcomeUnknown: mayHaveArrived, refused: false }),
    );
  });
});

describe('a 200 without the fields of a success', () => {
  const lacking = (what: string) =>
    failed({
      status: 200,
      error: `the provider answered 200 without ${what}`,
      outcomeUnknown: true,
      refused: false,
    });

  test.each([
    undefined,
    {},
    ...['', 7, 'a\nb', '\nbatch', 'batch\n', 'x'.repeat(257)].map((externalRef) => ({ externalRef })),
  ])('is a failed grant whose outcome is unknown: %j', (fields) => {
    expect(judgeGrant(answered(200, fields))).toEqual(lacking('a usable externalRef'));
  });

  test.each([
    undefined,
    {},
    { remainingSpins: 0 },
    { completed: true },
    { remainingSpins: -1, completed: true },
    { remainingSpins: 0.5, completed: true },
    { remainingSpins: 2 ** 53, completed: true },
    { remainingSpins: '3', completed: true },
    { remainingSpins: 0, completed: 'true' },
    { remainingSpins: 0, completed: null },
  ])('is a failed status call: %j', (fields) => {
    expect(judgeStatus(answered(200, fields))).toEqual(
      lacking('an integer remainingSpins and a boolean completed'),
    );
  });

  test('says what is wrong with its body', () => {
    expect(judgeGrant(answered(200, undefined, 'the body is incomplete'))).toEqual(
      lacking('a usable externalRef: the body is incomplete'),
    );
  });

  test('is a successful cancel', () => {
    expect(judgeCancel(answered(200, undefined, 'the body is incomplete'))).toEqual({ ok: true });
  });
});

test.each(['x', 'x'.repeat(256)])('a batch may be named %s', (externalRef) => {
  expect(judgeGrant(answered(200, { externalRef }))).toEqual({ ok: true, externalRef });
});

test.each([0, Number.MAX_SAFE_INTEGER])('a batch may have %s remaining spins', (remainingSpins) => {
  expect(judgeStatus(answered(200, { remainingSpins, completed: true }))).toEqual({
    ok: true,
    remainingSpins,
    completed: true,
  });
});
