import { describe, expect, test } from 'vitest';
import { useWorld } from '../world/world.js';
import { Tool } from './tool.js';

const world = useWorld();
const tool = new Tool(world);

/** Grants spins that the provider names as given. */
function grantNamed(externalRef: string) {
  const order = tool.order();
  const body = { externalRef };
  world.provider.next({ do: 'answer', status: 200, body }, { requestRef: order.requestRef });
  return { order, reply: tool.post(order) };
}

describe('an externalRef that a grant may have can be named by its WIN', () => {
  test.each([
    ['spaces', 'batch of 2026'],
    ['letters of any script', 'Freispiele für 日本 😀'],
    ['a dot', '.'],
    ['quotes, commas and braces', `{"a',\\b}`],
    ['256 characters of four bytes', '😀'.repeat(256)],
  ])('with %s', async (_, externalRef) => {
    const { order, reply } = grantNamed(externalRef);
    expect(await reply).toMatchObject({ status: 201, json: { state: 'GRANTED', externalRef } });
    const session = await world.launch({ playerRef: order['playerRef'] });
    const win = world.transaction(session, 'WIN', { freeSpinsRef: externalRef, amountMinor: 150 });
    expect(await world.submit(win)).toMatchObject({ status: 200, json: { status: 'APPROVED' } });
    expect(world.wallet.calls(win.transactionId)[0]?.json).toMatchObject({ freeSpinsRef: externalRef });
    expect((await tool.read(order.requestRef)).json).toMatchObject({
      externalRef,
      winnings: { count: 1, totalMinor: 150 },
    });
  });
});

describe.each([
  ['a line break', 'batch\n1'],
  ['NUL', 'batch\u0000'],
  ['DEL', 'batch\u007f'],
  ['a control character of C1', 'batch\u0085'],
  ['a line separator', 'batch\u2028'],
  ['a right-to-left override', '\u202ebatch'],
  ['a left-to-right isolate', '\u2066batch'],
  ['an Arabic letter mark', '\u061cbatch'],
  ['a lone surrogate', 'batch\ud800'],
  ['257 characters', 'x'.repeat(257)],
  ['no characters', ''],
])('a reference with %s', (_, externalRef) => {
  test('is no answer to a grant: its outcome is unknown', async () => {
    const { order, reply } = grantNamed(externalRef);
    expect(await reply).toMatchObject({ status: 502 });
    expect((await tool.read(order.requestRef)).json).toMatchObject({
      state: 'FAILED',
      failure: {
        status: 200,
        error: 'the provider answered 200 without a usable externalRef',
        outcomeUnknown: true,
      },
    });
  });

  test('is a 400 in a WIN', async () => {
    const win = world.transaction(await world.launch(), 'WIN', { freeSpinsRef: externalRef });
    const reply = await world.submit(win);
    expect([reply.status, reply.headers.get('x-error-code')]).toEqual([400, 'INVALID_REQUEST']);
    expect(String(reply.json['error'])).toMatch(/^freeSpinsRef must /);
    expect(world.wallet.calls(win.transactionId)).toEqual([]);
  });
});
