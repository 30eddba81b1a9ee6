import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FAULTS } from '../../src/sandbox/faults/faults.js';
import { rulesOf, setRules, startCounterparts } from './counterparts.js';

const START_MINOR = 100_000;
const GRANT = { playerRef: 'player', gameId: 'game', spins: 3, betAmountMinor: 0, currency: 'EUR' };

type Counterparts = Awaited<ReturnType<typeof startCounterparts>>;
let counterparts: Counterparts;

beforeEach(async () => {
  counterparts = await startCounterparts('the secret');
});
afterEach(() => counterparts.stop());

const walletOrigin = () => counterparts.walletOrigin;
const bet: Counterparts['bet'] = (...args) => counterparts.bet(...args);
const callback: Counterparts['callback'] = (...args) => counterparts.callback(...args);
const balance: Counterparts['balance'] = (...args) => counterparts.balance(...args);

const unanswered = expect.objectContaining({ name: expect.stringMatching(/Error/) });

describe('a fault by a header', () => {
  test.each([
    ['book-and-answer-500', { status: 500 }],
    ['unreadable-body', { status: 200, text: expect.not.stringContaining('}') }],
    ['redirect', { status: 307 }],
    ['wrong-balance', { status: 200, text: expect.stringContaining(`"balance":${START_MINOR - 99}`) }],
  ])('%s changes the answer, and the BET is booked', async (fault, answer) => {
    expect(await bet('bet-1', { headers: { 'X-Sandbox-Fault': fault } })).toMatchObject(answer);
    expect(await balance()).toBe(START_MINOR - 100);
    expect(await bet('bet-1')).toMatchObject({ status: 200, text: expect.stringContaining('APPROVED') });
    expect(await balance()).toBe(START_MINOR - 100);
  });

  test.each([['book-and-stay-silent', 1_500] as const, ['cut-connection', 5_000] as const])(
    '%s gives no answer, and the BET is booked',
    async (fault, timeoutMs) => {
      const sent = bet('bet-1', { headers: { 'X-Sandbox-Fault': fault }, timeoutMs });
      await expect(sent).rejects.toEqual(unanswered);
      expect(await balance()).toBe(START_MINOR - 100);
    },
  );

  test('may be in the request id, which the platform forwards', async () => {
    expect(await bet('bet-1', { headers: { 'X-Request-Id': 'fault.book-and-answer-500.x' } })).toMatchObject({
      status: 500,
    });
    expect(await bet('bet-2', { headers: { 'X-Request-Id': 'fault.unheard-of.x' } })).toMatchObject({
      status: 200,
    });
  });

  test('that declines is final', async () => {
    const declined = { status: 200, text: expect.stringContaining('DECLINED') };
    expect(await bet('bet-1', { headers: { 'X-Sandbox-Fault': 'decline' } })).toMatchObject(declined);
    expect(await bet('bet-1')).toMatchObject(declined);
    expect(await balance()).toBe(START_MINOR);
  });

  test('that answers twice sends two answers on one connection', async () => {
    const socket = connect(Number(new URL(walletOrigin()).port), '127.0.0.1');
    socket.write(counterparts.rawBalance({ 'X-Sandbox-Fault': 'answer-twice' }));
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(socket, 'end');
    expect(
      Buffer.concat(chunks)
        .toString()
        .match(/HTTP\/1\.1 200 OK/g),
    ).toHaveLength(2);
  });

  test('refuses a callback, or grants without an externalRef', async () => {
    const refuse = { 'X-Sandbox-Fault': 'refuse' };
    expect(await callback('free-spins/grant', { ...GRANT, requestRef: 'r-1' }, refuse)).toMatchObject({
      status: 503,
    });
    const silent = { 'X-Sandbox-Fault': 'no-external-ref' };
    expect(await callback('free-spins/grant', { ...GRANT, requestRef: 'r-1' }, silent)).toEqual({
      status: 200,
      text: '{}',
    });
    expect((await callback('free-spins/grant', { ...GRANT, requestRef: 'r-1' })).text).toContain('spins-1');
  });
});

test('a grant is answered with the externalRef of the previous grant of the player, if there is one', async () => {
  const same = { 'X-Sandbox-Fault': 'same-external-ref' };
  const grant = async (requestRef: string, fields: object = {}, headers: object = same) =>
    (await callback('free-spins/grant', { ...GRANT, requestRef, ...fields }, headers)).text;
  expect(await grant('r-1')).toBe('{"externalRef":"spins-1"}');
  expect(await grant('r-2', { playerRef: 'another' })).toBe('{"externalRef":"spins-2"}');
  expect(await grant('r-3')).toBe('{"externalRef":"spins-1"}');
  expect(await grant('r-3', {}, {})).toBe('{"externalRef":"spins-3"}');
});

describe('a fault by the player', () => {
  test('affects the first call of each transaction, but not its repetition', async () => {
    const playerRef = 'fault-book-and-answer-500-anna';
    for (const id of ['bet-1', 'bet-2']) {
      expect(await bet(id, { playerRef })).toMatchObject({ status: 500 });
      expect(await bet(id, { playerRef })).toMatchObject({ status: 200 });
    }
    expect(await balance(playerRef)).toBe(START_MINOR - 200);
  });

  test('affects callbacks, too', async () => {
    const grant = { ...GRANT, playerRef: 'fault-refuse-anna', requestRef: 'r-1' };
    expect((await callback('free-spins/grant', grant)).status).toBe(503);
    expect((await callback('free-spins/grant', grant)).status).toBe(200);
  });
});

describe('a fault by a rule', () => {
  test('affects calls from the Nth matching one on, as many as it names', async () => {
    const rule = { fault: 'decline', on: 'BET', nth: 2, times: 2 };
    expect((await setRules(walletOrigin(), rule)).status).toBe(200);
    const statuses = [];
    for (const id of ['a', 'b', 'c', 'd']) {
      statuses.push((JSON.parse((await bet(id)).text) as { status: string }).status);
    }
    expect(statuses).toEqual(['APPROVED', 'DECLINED', 'DECLINED', 'APPROVED']);
    expect(await rulesOf(walletOrigin())).toEqual([{ ...rule, ms: 2000, matched: 4, applied: 2 }]);
  });

  test('does not count a call on which it had no effect as applied', async () => {
    await bet('booked');
    await setRules(walletOrigin(), { fault: 'decline' }, { fault: 'book-late', ms: 0 });
    expect(await bet('booked')).toMatchObject({ text: expect.stringContaining('APPROVED') });
    expect(await rulesOf(walletOrigin())).toMatchObject([
      { fault: 'decline', matched: 1, applied: 0 },
      { fault: 'book-late', matched: 1, applied: 0 },
    ]);
    expect(await bet('new')).toMatchObject({ text: expect.stringContaining('DECLINED') });
    expect(await rulesOf(walletOrigin())).toMatchObject([{ matched: 2, applied: 1 }, { applied: 0 }]);
  });

  test('does not count the first grant of a player as a repeated externalRef', async () => {
    const { provider } = counterparts;
    await setRules(provider.baseUrl, { fault: 'same-external-ref', times: 9 });
    const grant = (requestRef: string) => callback('free-spins/grant', { ...GRANT, requestRef });
    for (const repeated of ['r-1', 'r-1'])
      expect((await grant(repeated)).text).toBe('{"externalRef":"spins-1"}');
    expect(await rulesOf(provider.baseUrl)).toMatchObject([{ matched: 2, applied: 0 }]);
    expect((await grant('r-2')).text).toBe('{"externalRef":"spins-1"}');
    expect(await rulesOf(provider.baseUrl)).toMatchObject([{ matched: 3, applied: 1 }]);
  });

  test('has a configurable duration', async () => {
    await setRules(walletOrigin(), { fault: 'answer-slowly', ms: 500 });
    const began = performance.now();
    expect(await bet('bet-1')).toMatchObject({ status: 200, text: expect.stringContaining('APPROVED') });
    expect(performance.now() - began).toBeGreaterThanOrEqual(400);
  });

  test('affects only its players, until it is removed', async () => {
    await setRules(walletOrigin(), { fault: 'book-and-answer-500', playerRefPrefix: 'anna', times: 9 });
    expect((await bet('bet-1')).status).toBe(200);
    expect((await bet('bet-2', { playerRef: 'anna-1' })).status).toBe(500);
    await fetch(`${walletOrigin()}/sandbox/faults`, { method: 'DELETE' });
    expect((await bet('bet-3', { playerRef: 'anna-1' })).status).toBe(200);
  });

  test.each([
    [{ fault: 'unheard-of' }, 'rules[0].fault must be one of decline'],
    [{ fault: 'refuse' }, 'rules[0].fault does not apply to this counterpart'],
    [{ fault: 'decline', on: 'WIN' }, 'rules[0].on must be one of BET'],
    [{ fault: 'decline', nth: 0 }, 'rules[0].nth and times must be'],
    [{ fault: 'decline', ms: 60_001 }, 'rules[0].ms must be'],
    [{ fault: 'decline', when: 'always' }, 'rules[0].when is not known'],
  ])('%j is refused, and the rules stay', async (rule, sentence) => {
    await setRules(walletOrigin(), { fault: 'redirect' });
    const { status, json } = await setRules(walletOrigin(), rule);
    expect([status, json.error]).toEqual([400, expect.stringContaining(sentence)]);
    expect(await rulesOf(walletOrigin())).toMatchObject([{ fault: 'redirect' }]);
  });
});

test('Swagger of each counterpart documents all its faults, and the page loads', async () => {
  const documented = new Set<string>();
  for (const origin of [walletOrigin(), counterparts.provider.baseUrl]) {
    const document = await (await fetch(`${origin}/docs-json`)).text();
    expect(document).toContain('"openapi":"3.0.3"');
    for (const name of Object.keys(FAULTS)) if (document.includes(`| \`${name}\` |`)) documented.add(name);
    const page = await (await fetch(`${origin}/docs`)).text();
    for (const [, asset = ''] of page.matchAll(/(?:src|href)="([^"]+)"/g)) {
      expect((await fetch(origin + asset)).status).toBe(200);
    }
  }
  expect([...documented].sort()).toEqual(Object.keys(FAULTS).sort());
});
