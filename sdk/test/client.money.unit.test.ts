import { createRequire } from 'node:module';
import { describe, expect, test, vi } from 'vitest';
import type * as SdkModule from '../src/index.js';
import packageJson from '../package.json' with { type: 'json' };
import {
  type AttemptEvent,
  isCroupierError,
  NotConfiguredError,
  type Outcome,
  type PlatformError,
  ProviderClient,
  SessionInvalidError,
  SignatureRejectedError,
} from '../src/index.js';
import type { Scripted } from './support/platform.js';
import {
  APPROVED,
  BET,
  failure,
  IN_FLIGHT,
  INVALID_SIGNATURE,
  LIMITED,
  refusal,
  scriptedClient,
  SESSION_INVALID,
  TIMED_OUT,
} from './support/scripted-client.js';

const DECIDED: Scripted = { status: 200, body: APPROVED };

/** A proxy's answer with this status. */
const page = (status: number, headers = {}): Scripted => ({ status, body: '<html>', headers });
const MISMATCH = refusal(400, 'SESSION_MISMATCH', 'fix-request');
const NOT_CONFIGURED = refusal(503, 'GAME_NOT_CONFIGURED', 'contact-platform');

interface Row {
  answer: Scripted;
  name: string;
  outcome: Outcome;
  retryable: boolean;
}
const rows: Row[] = [
  // Errors of the platform, with its headers.
  { answer: MISMATCH, name: 'InvalidRequestError', outcome: 'not-booked', retryable: false },
  {
    answer: refusal(400, 'TRANSACTION_ID_REUSED', 'fix-request'),
    name: 'InvalidRequestError',
    outcome: 'unknown',
    retryable: false,
  },
  { answer: SESSION_INVALID, name: 'SessionInvalidError', outcome: 'not-booked', retryable: false },
  {
    answer: refusal(403, 'SESSION_OF_ANOTHER_PROVIDER', 'fix-request'),
    name: 'SessionOfAnotherProviderError',
    outcome: 'not-booked',
    retryable: false,
  },
  {
    answer: IN_FLIGHT,
    name: 'TransactionInFlightError',
    outcome: 'unknown',
    retryable: true,
  },
  { answer: LIMITED, name: 'RateLimitedError', outcome: 'not-booked', retryable: true },
  { answer: TIMED_OUT, name: 'PlatformUnavailableError', outcome: 'unknown', retryable: true },
  { answer: NOT_CONFIGURED, name: 'NotConfiguredError', outcome: 'not-booked', retryable: false },
  ...[
    [404, 'NOT_FOUND'],
    [413, 'PAYLOAD_TOO_LARGE'],
    [415, 'UNSUPPORTED_ENCODING'],
  ].map(([status, code]): Row => ({
    answer: refusal(Number(status), String(code), 'fix-request'),
    name: 'InvalidRequestError',
    outcome: 'not-booked',
    retryable: false,
  })),
  {
    answer: refusal(410, 'NEW_REFUSAL', 'fix-request'),
    name: 'InvalidRequestError',
    outcome: 'unknown',
    retryable: false,
  },
  // Transactions that may have been booked although repeating them is useless.
  ...[500, 502].map((status): Row => ({
    answer: refusal(status, 'INTERNAL', 'contact-platform'),
    name: 'PlatformUnavailableError',
    outcome: 'unknown',
    retryable: false,
  })),
  // A next action that this version does not know: the status decides.
  {
    answer: refusal(500, 'NEW', 'do-a-dance'),
    name: 'PlatformUnavailableError',
    outcome: 'unknown',
    retryable: true,
  },
  {
    answer: refusal(503, 'NEW', 'do-a-dance'),
    name: 'NotConfiguredError',
    outcome: 'not-booked',
    retryable: false,
  },
  {
    answer: refusal(400, 'NEW', 'do-a-dance'),
    name: 'InvalidRequestError',
    outcome: 'not-booked',
    retryable: false,
  },
  // The only error of the platform without `X-Error-Code`.
  {
    answer: INVALID_SIGNATURE,
    name: 'SignatureRejectedError',
    outcome: 'not-booked',
    retryable: false,
  },
  // Answers of a proxy, whatever the status.
  ...[500, 502, 503, 504, 520, 408, 429].map((status): Row => ({
    answer: page(status),
    name: 'PlatformUnavailableError',
    outcome: 'unknown',
    retryable: true,
  })),
  ...[400, 401, 403, 404, 405, 409, 413, 415, 451].map((status): Row => ({
    answer: page(status),
    name: 'UnexpectedAnswerError',
    outcome: 'unknown',
    retryable: true,
  })),
  {
    answer: { status: 503, body: { error: 'x' }, headers: { 'X-Error-Code': 'GAME_NOT_CONFIGURED' } },
    name: 'PlatformUnavailableError',
    outcome: 'unknown',
    retryable: true,
  },
  // Answers that are not a decision on this transaction.
  ...[
    page(301, { Location: 'http://127.0.0.1:1/' }),
    page(307, { Location: 'http://127.0.0.1:1/' }),
    page(200),
    page(204),
    { status: 201, body: APPROVED },
    { status: 202, body: APPROVED },
    { status: 200, body: [] },
    { status: 200, body: { ...APPROVED, status: 'BOOKED' } },
    { status: 200, body: { ...APPROVED, balance: '750' } },
    { status: 200, body: { ...APPROVED, transactionId: 'bet-2' } },
  ].map((answer): Row => ({ answer, name: 'UnexpectedAnswerError', outcome: 'unknown', retryable: true })),
  // No answer.
  ...(['drop', 'hang', 'stall', 'garbage', 'truncate'] as const).map((answer): Row => ({
    answer,
    name: 'NetworkError',
    outcome: 'unknown',
    retryable: true,
  })),
];

/** A time-out for requests that are never answered: short, but long enough for each to arrive. */
const patience = (answer: Scripted) => (answer === 'hang' || answer === 'stall' ? { timeoutMs: 1_000 } : {});

describe('the outcome of one attempt', () => {
  test.each(rows)('$answer → $name, $outcome, retryable: $retryable', async ({ answer, ...expected }) => {
    const { client } = await scriptedClient([answer], patience(answer));
    const error = await failure(client.bet(BET));
    expect(error).toMatchObject(expected);
    expect(error.attempts).toEqual([
      {
        status: typeof answer === 'string' ? undefined : answer.status,
        code: error.code,
        outcome: expected.outcome,
        durationMs: expect.any(Number) as number,
      },
    ]);
  });

  test('is not-booked if no connection was made', async () => {
    const { client, stop } = await scriptedClient([]);
    await stop();
    expect(await failure(client.bet(BET))).toMatchObject({ name: 'NetworkError', outcome: 'not-booked' });
    const unknownHost = new ProviderClient({
      baseUrl: 'http://no-such-host.invalid',
      tenantId: 't',
      secret: 's',
    });
    expect(await failure(unknownHost.bet(BET))).toMatchObject({
      name: 'NetworkError',
      outcome: 'not-booked',
    });
  });

  test('is always not-booked for reads, which move no money', async () => {
    const { client } = await scriptedClient(['drop', page(503)]);
    const error = await failure(client.getBalance(BET, { maxAttempts: 2 }));
    expect(error).toMatchObject({ name: 'PlatformUnavailableError', outcome: 'not-booked' });
    expect(error.attempts.map(({ outcome }) => outcome)).toEqual(['not-booked', 'not-booked']);
  });

  test('is unknown for an id that was sent before, whatever the answer to this attempt', async () => {
    const { client } = await scriptedClient([MISMATCH]);
    const error = await failure(client.bet(BET, { sentBefore: true }));
    expect(error).toMatchObject({ name: 'InvalidRequestError', outcome: 'unknown' });
    expect(error.message).toContain('an earlier attempt may have been booked');
  });
});

describe('with retry', () => {
  test.each(rows.filter(({ retryable }) => retryable))('$answer is sent again', async ({ answer }) => {
    const { client, received } = await scriptedClient([answer, DECIDED], patience(answer));
    expect(await client.bet(BET, { retry: true })).toEqual(APPROVED);
    expect(received).toHaveLength(2);
  });

  test.each(rows.filter(({ retryable }) => !retryable))('$answer ends the call', async ({ answer }) => {
    const { client, received } = await scriptedClient([answer, DECIDED]);
    await failure(client.bet(BET, { retry: true }));
    expect(received).toHaveLength(1);
  });

  test.each([
    [['hang', SESSION_INVALID], SessionInvalidError],
    [[TIMED_OUT, NOT_CONFIGURED], NotConfiguredError],
    [[page(503), LIMITED, INVALID_SIGNATURE], SignatureRejectedError],
  ] as [Scripted[], new (...args: never[]) => PlatformError][])(
    'the error covers all attempts: %j is unknown',
    async (script, ErrorClass) => {
      const { client } = await scriptedClient(script, patience(script[0]!));
      const error = await failure(client.bet(BET, { retry: true }));
      expect(error).toBeInstanceOf(ErrorClass);
      expect(error.outcome).toBe('unknown');
      expect(error.attempts).toHaveLength(script.length);
      expect(error.attempts.at(-1)).toMatchObject({ outcome: 'not-booked', status: error.status });
      expect(error.message).toContain(`attempt ${script.length}; an earlier attempt may have been booked`);
    },
  );

  test('attempts that were all refused were not booked', async () => {
    const { client } = await scriptedClient([LIMITED, LIMITED, MISMATCH]);
    expect(await failure(client.bet(BET, { retry: true }))).toMatchObject({
      outcome: 'not-booked',
      attempts: [{ status: 429 }, { status: 429 }, { status: 400, code: 'SESSION_MISMATCH' }],
    });
  });

  test('Retry-After of a proxy is honoured', async () => {
    const { client, pauses } = await scriptedClient([page(503, { 'Retry-After': '1' }), DECIDED]);
    await client.bet(BET, { retry: true });
    expect(pauses).toEqual([1000]);
  });

  test('eight attempts are made by default, or as many as the call or the client says', async () => {
    const { client, received, url } = await scriptedClient(Array<Scripted>(20).fill(TIMED_OUT), {
      maxAttempts: 3,
    });
    await failure(client.bet(BET, { retry: true, maxAttempts: 2 }));
    expect(received).toHaveLength(2);
    await failure(client.bet(BET, { retry: true }));
    expect(received).toHaveLength(5);
    const plain = new ProviderClient({
      baseUrl: url,
      tenantId: 't',
      secret: 's',
      retry: true,
      backoff: { sleep: async () => undefined },
    });
    await failure(plain.bet(BET));
    expect(received).toHaveLength(13);
    await failure(plain.bet(BET, { retry: false }));
    expect(received).toHaveLength(14);
  });

  test('the deadline ends all attempts', async () => {
    const { client, received } = await scriptedClient(Array<Scripted>(20).fill('hang'), {
      backoff: { random: () => 0 },
    });
    const startedAt = performance.now();
    const error = await failure(
      client.bet(BET, { retry: true, maxAttempts: 20, timeoutMs: 400, deadlineMs: 1_400 }),
    );
    expect(performance.now() - startedAt).toBeGreaterThan(1_000);
    expect(error).toMatchObject({ name: 'NetworkError', timedOut: true, outcome: 'unknown' });
    expect(received.length).toBeGreaterThanOrEqual(2);
    expect(received.length).toBeLessThanOrEqual(4);
    // The deadline may end the last attempt before its request arrives.
    expect(error.attempts.length - received.length).toBeOneOf([0, 1]);
  });

  test('the deadline also ends a single attempt, and no pause goes beyond it', async () => {
    const { client, received, pauses } = await scriptedClient(['hang', LIMITED, DECIDED], {
      deadlineMs: 1_000,
    });
    expect(await failure(client.bet(BET))).toMatchObject({ timedOut: true });
    expect(await failure(client.bet(BET, { retry: true }))).toMatchObject({ retryAfterSeconds: 2 });
    expect(received).toHaveLength(2);
    expect(pauses).toEqual([]);
  });

  test('all attempts have the same request id and body', async () => {
    const { client, received } = await scriptedClient([TIMED_OUT, DECIDED]);
    await client.bet(BET, { retry: true });
    expect(new Set(received.map(({ headers }) => headers['x-request-id'])).size).toBe(1);
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
  });
});

describe('onAttempt', () => {
  test('is called for each attempt, without secret and session token', async () => {
    const events: AttemptEvent[] = [];
    const { client, received } = await scriptedClient([TIMED_OUT, 'drop', DECIDED], {
      onAttempt: (event) => void events.push(event),
      backoff: { random: () => 0 },
    });
    await client.bet(BET, { retry: true });
    const requestId = received[0]?.headers['x-request-id'];
    const identity = { route: '/v1/wallet/transaction', transactionId: 'bet-1', requestId };
    const unknown = { outcome: 'unknown', pauseMs: 0 };
    expect(events).toMatchObject([
      { phase: 'before', attempt: 1, ...identity },
      { phase: 'after', attempt: 1, status: 500, code: 'OPERATOR_TIMED_OUT', ...identity, ...unknown },
      { phase: 'before', attempt: 2 },
      { phase: 'after', attempt: 2, status: undefined, code: undefined, ...unknown },
      { phase: 'before', attempt: 3 },
      { phase: 'after', attempt: 3, status: 200, outcome: undefined, pauseMs: undefined },
    ]);
    expect(JSON.stringify(events)).not.toMatch(/that no log may show/);
  });

  test('is called for an attempt that the caller aborted', async () => {
    const events: AttemptEvent[] = [];
    const { client, received } = await scriptedClient(['hang']);
    const controller = new AbortController();
    const call = client.bet(BET, {
      signal: controller.signal,
      onAttempt: (event) => void events.push(event),
    });
    await expect.poll(() => received.length).toBe(1);
    controller.abort(new Error('shutting down'));
    await expect(call).rejects.toThrow('shutting down');
    expect(events.at(-1)).toMatchObject({ phase: 'after', outcome: 'unknown', pauseMs: undefined });
  });

  test.each([
    () => {
      throw new Error('the log is full');
    },
    () => Promise.reject(new Error('the log is full')) as unknown as undefined,
  ])('changes nothing when it fails: %s', async (onAttempt) => {
    const { client, received } = await scriptedClient([TIMED_OUT, DECIDED], { onAttempt });
    expect(await client.bet(BET, { retry: true })).toEqual(APPROVED);
    expect(received).toHaveLength(2);
  });
});

describe('a client-wide signal', () => {
  test('ends every call, unless a call has its own', async () => {
    const { client } = await scriptedClient([DECIDED], {
      signal: AbortSignal.abort(new Error('shutting down')),
    });
    await expect(client.bet(BET)).rejects.toThrow('shutting down');
    expect(await client.bet(BET, { signal: new AbortController().signal })).toEqual(APPROVED);
  });
});

test('an option or field of a call that is not usable rejects before anything is sent', async () => {
  const { client, received } = await scriptedClient([DECIDED]);
  await expect(client.bet(BET, { timeoutMs: -1 })).rejects.toThrow('timeoutMs must be a positive number');
  const inBigInt = { ...BET, amountMinor: 250n as unknown as number };
  await expect(client.bet(inBigInt)).rejects.toThrow(
    new TypeError('amountMinor must be a number, not a BigInt'),
  );
  expect(received).toHaveLength(0);
});

test('the SDK and its runtime are named in User-Agent', async () => {
  const { client, received } = await scriptedClient([DECIDED]);
  await client.bet(BET);
  expect(received[0]?.headers['user-agent']).toBe(
    `croupier-provider-sdk/${packageJson.version} node/${process.versions.node}`,
  );
});

test('errors are recognised across the ES module and the CommonJS copy', async () => {
  const commonJs = createRequire(import.meta.url)('../dist/cjs/index.js') as typeof SdkModule;
  const { client } = await scriptedClient([MISMATCH]);
  const error = await failure(client.bet(BET));
  expect(commonJs.isCroupierError(error)).toBe(true);
  const theirs = new commonJs.SessionInvalidError({ message: 'theirs' });
  expect(theirs).not.toBeInstanceOf(SessionInvalidError);
  expect(isCroupierError(theirs)).toBe(true);
  for (const other of [undefined, null, 'error', {}, new Error('error')]) {
    expect(isCroupierError(other)).toBe(false);
  }
});

describe('a refused signature', () => {
  const at = (offsetSeconds: number) => ({
    status: 401,
    body: 'invalid signature',
    headers: { Date: new Date(Date.now() + offsetSeconds * 1000).toUTCString() },
  });

  test.each([
    [400, /the platform's clock is (399|400|401) s ahead of this one/],
    [-7200, /the platform's clock is (7199|7200|7201) s behind this one/],
  ])('says by how much the clocks differ: %d s', async (offset, sentence) => {
    const { client } = await scriptedClient([at(offset)]);
    const error = (await failure(client.bet(BET))) as SignatureRejectedError;
    expect(error.message).toMatch(sentence);
    expect(Math.abs((error.clockOffsetSeconds ?? 0) - offset)).toBeLessThanOrEqual(1);
  });

  test('does not name the clock if it is right', async () => {
    const { client } = await scriptedClient([at(0)]);
    const error = (await failure(client.bet(BET))) as SignatureRejectedError;
    expect(error.message).not.toContain('clock');
    expect(Math.abs(error.clockOffsetSeconds ?? 99)).toBeLessThanOrEqual(1);
  });
});

test('no attempt begins after the deadline, even if a pause takes longer than asked for', async () => {
  const afterDeadline = performance.now() + 60_000;
  const sleep = () => Promise.resolve(void vi.spyOn(performance, 'now').mockReturnValue(afterDeadline));
  const { client, received } = await scriptedClient([LIMITED, DECIDED], { backoff: { sleep } });
  try {
    const { name, outcome, attempts } = await failure(client.bet(BET, { retry: true }));
    expect({ name, outcome, attempts: attempts.length, received: received.length }).toEqual({
      name: 'RateLimitedError',
      outcome: 'not-booked',
      attempts: 1,
      received: 1,
    });
  } finally {
    vi.restoreAllMocks();
  }
});
