import { getEventListeners } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  InvalidRequestError,
  NetworkError,
  NotConfiguredError,
  PlatformError,
  PlatformUnavailableError,
  ProviderClient,
  type ProviderClientOptions,
  RateLimitedError,
  SessionInvalidError,
  SessionOfAnotherProviderError,
  SignatureRejectedError,
  TransactionInFlightError,
  UnexpectedAnswerError,
  verifyPlatformSignature,
} from '../src/index.js';
import type { Scripted } from './support/platform.js';
import {
  APPROVED,
  BET,
  failure,
  IN_FLIGHT,
  LIMITED,
  refusal,
  scriptedClient,
  SESSION_INVALID,
  TENANT,
  TIMED_OUT,
} from './support/scripted-client.js';

const NOW = 1_800_000_000;

/** A scripted client whose clock stands still. */
const clientOf = (script: Scripted[], options: Partial<ProviderClientOptions> = {}) =>
  scriptedClient(script, { clock: () => NOW * 1000 + 999, ...options });

const BALANCE: Scripted = { status: 200, body: { balance: 1000 } };

describe('a call', () => {
  test('is a signed POST of the bytes that were signed, at the path below the base address', async () => {
    const { client, received, url } = await clientOf([BALANCE]);
    const based = new ProviderClient({
      ...TENANT,
      baseUrl: `${url}/base/`,
      clock: () => NOW * 1000,
    });
    expect(await based.getBalance({ sessionToken: 'tökén' })).toEqual({ balance: 1000 });
    expect(client).toBeInstanceOf(ProviderClient);
    const [{ path, headers, body } = { path: '', headers: {}, body: '' }] = received;
    expect(path).toBe('/base/v1/wallet/balance');
    expect(JSON.parse(body)).toEqual({ sessionToken: 'tökén' });
    const signed = { method: 'POST', path, headers, body, ...TENANT, now: NOW };
    expect(verifyPlatformSignature(signed)).toEqual({ ok: true });
    expect(headers['content-type']).toBe('application/json');
  });

  test("sends each kind of transaction, and returns the platform's answer, including DECLINED", async () => {
    const declined = { ...APPROVED, status: 'DECLINED', declineReason: 'INSUFFICIENT_FUNDS', balance: -5 };
    const approved = { status: 200, body: APPROVED };
    const { client, received } = await clientOf([
      { status: 200, body: declined },
      approved,
      approved,
      approved,
    ]);
    expect(await client.bet(BET)).toEqual(declined);
    await client.win({ ...BET, freeSpinsRef: 'batch-1', roundClosed: true, originalTransactionId: 'bet-0' });
    await client.rollback({ ...BET, amountMinor: undefined, originalTransactionId: 'bet-0' });
    await client.submitTransaction({ ...BET, kind: 'BET', originalTransactionId: 'bet-0' });
    expect(received.map(({ body }) => JSON.parse(body) as object)).toEqual([
      { ...BET, kind: 'BET' },
      { ...BET, kind: 'WIN', freeSpinsRef: 'batch-1', roundClosed: true, originalTransactionId: 'bet-0' },
      { ...BET, kind: 'ROLLBACK', amountMinor: undefined, originalTransactionId: 'bet-0' },
      { ...BET, kind: 'BET', originalTransactionId: 'bet-0' },
    ]);
  });

  test('verifies a session', async () => {
    const session = { sessionId: 's', playerRef: 'ann', gameId: 'reels', currency: 'EUR', operatorId: 'o' };
    const { client, received } = await clientOf([{ status: 200, body: session }]);
    expect(await client.verifySession({ sessionToken: 'token' })).toEqual(session);
    expect(received[0]?.path).toBe('/v1/wallet/session/verify');
  });
});

describe('an error', () => {
  const plain: Scripted = {
    status: 401,
    body: 'invalid signature',
    headers: { 'X-Request-Id': 'request-7' },
  };
  test.each([
    [refusal(400, 'SESSION_MISMATCH', 'fix-request'), InvalidRequestError, false],
    [plain, SignatureRejectedError, false],
    [SESSION_INVALID, SessionInvalidError, false],
    [refusal(403, 'SESSION_OF_ANOTHER_PROVIDER', 'fix-request'), SessionOfAnotherProviderError, false],
    [refusal(404, 'NOT_FOUND', 'fix-request'), InvalidRequestError, false],
    [IN_FLIGHT, TransactionInFlightError, true],
    [refusal(413, 'PAYLOAD_TOO_LARGE', 'fix-request'), InvalidRequestError, false],
    [LIMITED, RateLimitedError, true],
    [TIMED_OUT, PlatformUnavailableError, true],
    [refusal(502, 'PROVIDER_FAILED', 'contact-platform'), PlatformUnavailableError, false],
    [refusal(503, 'GAME_NOT_CONFIGURED', 'contact-platform'), NotConfiguredError, false],
  ] as const)('%j has a class of its own', async (answer, errorClass, retryable) => {
    const { client } = await clientOf([answer]);
    const error = await failure(client.bet(BET));
    expect(error).toBeInstanceOf(errorClass);
    expect(error).toBeInstanceOf(PlatformError);
    const headers = (answer as { headers: Record<string, string> }).headers;
    expect(error).toMatchObject({
      name: errorClass.name,
      status: (answer as { status: number }).status,
      code: headers['X-Error-Code'],
      nextAction: headers['X-Next-Action'],
      requestId: 'request-7',
      retryable,
    });
    expect(error.message).toContain('request-7');
  });

  test('names the path that was called, and the target of a redirect', async () => {
    const headers = { Location: 'https://platform.example/base/' };
    const { url } = await clientOf([{ status: 308, headers }]);
    const misled = new ProviderClient({ ...TENANT, baseUrl: `${url}/base` });
    expect((await failure(misled.bet(BET))).message).toMatch(
      /^POST \/base\/v1\/wallet\/transaction was answered 308 to https:\/\/platform\.example\/base\/, which is not/,
    );
  });

  test('of a proxy carries the request id that the client sent', async () => {
    const { client, received } = await clientOf([{ status: 504, body: '<html>' }]);
    const error = await failure(client.bet(BET));
    expect(error).toMatchObject({ retryable: true, requestId: received[0]?.headers['x-request-id'] });
  });

  test.each<Scripted>([
    { status: 302, headers: { Location: 'http://127.0.0.1:1/' } },
    { status: 200, body: '<html>' },
    { status: 200, body: '[]' },
    { status: 200, body: { balance: '1000' } },
    { status: 200, body: { balance: 0.5 } },
    { status: 201, body: { balance: 1000 } },
  ])('%j is not an answer of the platform', async (answer) => {
    const { client, received } = await clientOf([answer]);
    expect(await failure(client.getBalance(BET, { retry: false }))).toBeInstanceOf(UnexpectedAnswerError);
    expect(received).toHaveLength(1);
  });

  test('is an answer to another transaction', async () => {
    const { client } = await clientOf([{ status: 200, body: { ...APPROVED, transactionId: 'bet-2' } }]);
    expect(await failure(client.bet(BET))).toBeInstanceOf(UnexpectedAnswerError);
  });

  test('is an answer that never ends', async () => {
    const { client } = await clientOf([{ status: 200, body: 'x'.repeat(1024 * 1024 + 1) }]);
    const error = await failure(client.bet(BET));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error.message).toContain('bytes');
  });

  test('is a failed connection', async () => {
    const { client, stop } = await clientOf([]);
    await stop();
    const error = await failure(client.verifySession(BET));
    expect(error).toMatchObject({
      name: 'NetworkError',
      status: undefined,
      timedOut: false,
      retryable: true,
    });
    expect(error.message).toContain('ECONNREFUSED');
  });

  test.each(['hang', 'stall'] as const)('is an answer that takes too long (%s)', async (script) => {
    const { client } = await clientOf([script], { timeoutMs: 50 });
    expect(await failure(client.bet(BET))).toMatchObject({ name: 'NetworkError', timedOut: true });
  });
});

describe('a balance', () => {
  test.each<Scripted>([TIMED_OUT, LIMITED, 'drop'])('is repeated after %j, newly signed', async (trouble) => {
    const { client, received } = await clientOf([trouble, trouble, BALANCE]);
    expect(await client.getBalance(BET)).toEqual({ balance: 1000 });
    expect(received).toHaveLength(3);
    expect(new Set(received.map(({ headers }) => headers['x-nonce'])).size).toBe(3);
    for (const { path, headers, body } of received) {
      const signed = { method: 'POST', path, headers, body, ...TENANT, now: NOW };
      expect(verifyPlatformSignature(signed)).toEqual({ ok: true });
    }
  });

  test('has the time of each attempt', async () => {
    let seconds = NOW;
    const clock = () => (seconds += 10) * 1000;
    const { client, received } = await clientOf([TIMED_OUT, BALANCE], { clock });
    await client.getBalance(BET);
    const [first, second] = received.map(({ headers }) => Number(headers['x-timestamp']));
    expect(second).toBeGreaterThan(first ?? Infinity);
  });

  test('is attempted at most three times', async () => {
    const { client, received } = await clientOf([TIMED_OUT, TIMED_OUT, TIMED_OUT, BALANCE]);
    expect(await failure(client.getBalance(BET))).toMatchObject({ code: 'OPERATOR_TIMED_OUT' });
    expect(received).toHaveLength(3);
  });

  test('pauses exponentially with full jitter, and as long as Retry-After says', async () => {
    const { client, pauses } = await clientOf([TIMED_OUT, 'drop', LIMITED, TIMED_OUT, BALANCE], {
      maxAttempts: 5,
      backoff: { baseDelayMs: 100, maxDelayMs: 300 },
    });
    await client.getBalance(BET);
    expect(pauses).toEqual([50, 100, 2000, 150]);
  });

  test('pauses as by default if the options of the pauses are undefined', async () => {
    const { url, received } = await clientOf([TIMED_OUT, BALANCE]);
    const pauses: (number | undefined)[] = [];
    const client = new ProviderClient({
      ...TENANT,
      baseUrl: url,
      backoff: { baseDelayMs: undefined, maxDelayMs: undefined, random: undefined, sleep: undefined },
      onAttempt: (event) => {
        if (event.phase === 'after') pauses.push(event.pauseMs);
      },
    });
    expect(await client.getBalance(BET)).toEqual({ balance: 1000 });
    expect(received).toHaveLength(2);
    expect(pauses).toEqual([expect.toSatisfy((ms: number) => ms >= 0 && ms <= 200), undefined]);
  });

  test('takes a Retry-After that is a date', async () => {
    const retryAfter = new Date((NOW + 4) * 1000).toUTCString();
    const { client, pauses } = await clientOf([
      refusal(429, 'RATE_LIMITED', 'wait-then-retry', { 'Retry-After': retryAfter }),
      BALANCE,
    ]);
    await client.getBalance(BET);
    expect(pauses).toEqual([4000]);
  });

  test('does not wait beyond the deadline', async () => {
    const { client, pauses } = await clientOf([
      refusal(429, 'RATE_LIMITED', 'wait-then-retry', { 'Retry-After': '61' }),
    ]);
    expect(await failure(client.getBalance(BET))).toMatchObject({ retryAfterSeconds: 61 });
    expect(pauses).toEqual([]);
  });

  test.each<Scripted>([
    refusal(400, 'INVALID_REQUEST', 'fix-request'),
    { status: 401, body: 'invalid signature' },
    SESSION_INVALID,
    refusal(403, 'SESSION_OF_ANOTHER_PROVIDER', 'fix-request'),
    refusal(503, 'OPERATOR_NOT_CONFIGURED', 'contact-platform'),
  ])('is not repeated after %j', async (answer) => {
    const { client, received } = await clientOf([answer, BALANCE]);
    await failure(client.getBalance(BET));
    expect(received).toHaveLength(1);
  });

  test('is attempted once without retries', async () => {
    const { client, received } = await clientOf([TIMED_OUT, BALANCE]);
    await failure(client.getBalance(BET, { retry: false }));
    expect(received).toHaveLength(1);
  });
});

describe('a transaction', () => {
  test.each<Scripted>([TIMED_OUT, LIMITED, IN_FLIGHT, 'drop'])(
    'is sent once by default: %j',
    async (trouble) => {
      const { client, received } = await clientOf([trouble, { status: 200, body: APPROVED }]);
      expect(await failure(client.bet(BET))).toMatchObject({ retryable: true });
      expect(received).toHaveLength(1);
    },
  );

  test('is repeated with the same bytes until it is decided, waiting after a 409, if retries are requested', async () => {
    const decided: Scripted = { status: 200, body: APPROVED };
    const { client, received, pauses } = await clientOf(['drop', TIMED_OUT, IN_FLIGHT, LIMITED, decided], {
      backoff: { random: () => 0 },
    });
    expect(await client.bet(BET, { retry: true })).toEqual(APPROVED);
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    expect(new Set(received.map(({ headers }) => headers['x-nonce'])).size).toBe(5);
    expect(pauses).toEqual([0, 0, 1000, 2000]);
  });

  test.each<Scripted>([
    refusal(400, 'TRANSACTION_ID_REUSED', 'fix-request'),
    SESSION_INVALID,
    refusal(503, 'GAME_NOT_CONFIGURED', 'contact-platform'),
    refusal(500, 'INTERNAL', 'contact-platform'),
  ])('is not repeated after %j', async (answer) => {
    const { client, received } = await clientOf([answer, answer]);
    await failure(client.bet(BET, { retry: true }));
    expect(received).toHaveLength(1);
  });
});

describe('connections', () => {
  test('are used again by later calls, of other clients too', async () => {
    const { client, connections, url } = await clientOf([BALANCE, BALANCE, BALANCE]);
    await client.getBalance(BET);
    await client.getBalance(BET);
    await new ProviderClient({ ...TENANT, baseUrl: url }).getBalance(BET);
    expect(connections()).toBe(1);
  });
});

describe('an ended session', () => {
  const advice = 'ask the platform to set lateSettlementSeconds for you now';

  test('of a WIN or ROLLBACK: the error says what a person can do', async () => {
    const { client } = await clientOf([SESSION_INVALID, SESSION_INVALID]);
    expect((await failure(client.win(BET))).message).toContain(advice);
    const rollback = { ...BET, amountMinor: undefined, originalTransactionId: 'bet-0' };
    expect((await failure(client.rollback(rollback))).message).toContain(advice);
  });

  test('of a BET or a read needs nothing of that kind', async () => {
    const { client } = await clientOf([SESSION_INVALID, SESSION_INVALID]);
    expect((await failure(client.bet(BET))).message).not.toContain(advice);
    expect((await failure(client.getBalance(BET))).message).not.toContain(advice);
  });
});

describe('an aborted signal', () => {
  test('ends a call before it is sent', async () => {
    const { client, received } = await clientOf([BALANCE]);
    const signal = AbortSignal.abort(new Error('changed my mind'));
    await expect(client.getBalance(BET, { signal })).rejects.toThrow('changed my mind');
    expect(received).toHaveLength(0);
  });

  test('ends a call that onAttempt aborts just before it is sent', async () => {
    const { client, received } = await clientOf([BALANCE]);
    const controller = new AbortController();
    const onAttempt = () => controller.abort(new Error('changed my mind'));
    const call = client.getBalance(BET, { signal: controller.signal, onAttempt });
    await expect(call).rejects.toThrow('changed my mind');
    expect(received).toHaveLength(0);
  });

  test('ends a call that is under way', async () => {
    const { client, received } = await clientOf(['hang']);
    const controller = new AbortController();
    const call = client.bet(BET, { signal: controller.signal, retry: true });
    await expect.poll(() => received.length).toBe(1);
    controller.abort(new Error('changed my mind'));
    await expect(call).rejects.toThrow('changed my mind');
  });

  test('ends a pause', async () => {
    const { url, received } = await clientOf([LIMITED]);
    const client = new ProviderClient({ ...TENANT, baseUrl: url });
    const controller = new AbortController();
    const call = client.getBalance(BET, { signal: controller.signal });
    await expect.poll(() => received.length).toBe(1);
    controller.abort(new Error('changed my mind'));
    await expect(call).rejects.toThrow('changed my mind');
  });
});

describe('one signal for many calls', () => {
  const listenersOf = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;

  test('causes no warning, and keeps no listener', async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error) => void warnings.push(warning);
    process.on('warning', warn);
    onTestFinished(() => void process.off('warning', warn));
    const { signal } = new AbortController();
    const { client, received } = await clientOf(Array<Scripted>(30).fill(BALANCE));
    const calls = Array.from({ length: 30 }, () => client.getBalance(BET, { signal }));
    await expect.poll(() => received.length).toBeGreaterThan(20);
    await Promise.all(calls);
    expect(listenersOf(signal)).toBe(0);
    // Warnings are emitted in the next tick.
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toEqual([]);
  });

  test('ends all of them, those in a pause too', async () => {
    const script = [...Array<Scripted>(15).fill('hang'), ...Array<Scripted>(15).fill(LIMITED)];
    const { url, received } = await clientOf(script);
    const client = new ProviderClient({ ...TENANT, baseUrl: url });
    const controller = new AbortController();
    const ended: unknown[] = [];
    const calls = script.map(() =>
      client.getBalance(BET, { signal: controller.signal }).catch((reason: unknown) => ended.push(reason)),
    );
    await expect.poll(() => received.length).toBe(30);
    expect(listenersOf(controller.signal)).toBe(1);
    const reason = new Error('shutting down');
    controller.abort(reason);
    await Promise.all(calls);
    expect(ended).toEqual(Array(30).fill(reason));
    expect(listenersOf(controller.signal)).toBe(0);
  });

  test('ends a call whose fetch ignores the signal', async () => {
    const { client } = await clientOf([], { fetch: () => new Promise(() => undefined), timeoutMs: 20 });
    expect(await failure(client.bet(BET))).toMatchObject({ name: 'NetworkError', timedOut: true });
  });
});

/** What the `fetch` of each runtime throws: seen on Node 20, Bun 1.4 and Deno 2.9. */
describe('a custom fetch that fails', () => {
  const thrown = (message: string, fields: object = {}) => Object.assign(new TypeError(message), fields);
  const ofDeno = (error: string) =>
    thrown('fetch failed', {
      cause: new Error(`error sending request for url (http://127.0.0.1:4/): ${error}`),
    });
  test.each<[string, string, Error]>([
    [
      'refused, Node',
      'not-booked',
      thrown('fetch failed', { cause: { syscall: 'connect', code: 'ECONNREFUSED' } }),
    ],
    [
      'refused, Bun',
      'not-booked',
      thrown('ECONNREFUSED: Unable to connect.', { code: 'ECONNREFUSED', errno: 0 }),
    ],
    ['refused, earlier Bun', 'not-booked', thrown('Unable to connect.', { code: 'ConnectionRefused' })],
    [
      'refused, Deno',
      'not-booked',
      ofDeno('client error (Connect): tcp connect error: Connection refused (os error 111)'),
    ],
    ['no such host, Deno', 'not-booked', ofDeno('client error (Connect): dns error')],
    [
      'lost, Bun',
      'unknown',
      thrown('The socket connection was closed unexpectedly.', { code: 'ECONNRESET' }),
    ],
    [
      'lost, Deno',
      'unknown',
      ofDeno('client error (SendRequest): connection closed before message completed'),
    ],
  ])('%s: %s', async (_, outcome, error) => {
    const { client } = await clientOf([], { fetch: () => Promise.reject(error) });
    expect(await failure(client.bet(BET))).toMatchObject({ name: 'NetworkError', outcome });
  });
});

test.each<Partial<ProviderClientOptions>>([
  { baseUrl: 'not an address' },
  { baseUrl: 'ftp://platform.example' },
  { baseUrl: 'https://user:password@platform.example' },
  { baseUrl: 'https://platform.example/?query' },
  { secret: '' },
  { tenantId: '' },
  { tenantId: 'spinwell\n' },
  { tenantId: 'spinwell\r' },
  { tenantId: 'spin well' },
  { tenantId: 't'.repeat(65) },
  { baseUrl: 'platform.example' },
  { baseUrl: 'localhost:3000' },
  { secret: ' \t' },
  { secret: 'secret\n' },
  { maxAttempts: 0 },
  { maxAttempts: 1.5 },
  { timeoutMs: 0 },
  { timeoutMs: -1 },
  { timeoutMs: Number.NaN },
  { timeoutMs: Infinity },
  { timeoutMs: '5000' as unknown as number },
  { deadlineMs: 0 },
  { deadlineMs: 2 ** 31 },
  { backoff: { baseDelayMs: Number.NaN } },
  { backoff: { baseDelayMs: -1 } },
  { backoff: { maxDelayMs: Infinity } },
  { backoff: { maxDelayMs: '5000' as unknown as number } },
  { backoff: { random: 0.5 as unknown as () => number } },
])('%j is refused at once, in a sentence that names the option', (options) => {
  const construct = () => new ProviderClient({ baseUrl: 'https://platform.example', ...TENANT, ...options });
  expect(construct).toThrow(TypeError);
  expect(construct).toThrow(Object.keys(options)[0]!);
});
