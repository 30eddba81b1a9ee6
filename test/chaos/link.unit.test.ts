import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { freePort } from '../../chaos/processes/child.js';
import { Link } from '../../chaos/processes/link.js';
import { ADDRESSES } from '../../chaos/processes/names.js';
import { Site } from '../../chaos/processes/site.js';

/** How long a test waits for an answer, in milliseconds. */
const PATIENCE_MS = 5_000;

let echo: Server;
let target: { host: string; port: number };
const open: { close(): void }[] = [];

beforeEach(async () => {
  echo = createServer((socket) => socket.on('error', () => undefined).pipe(socket)).listen(0, '127.0.0.1');
  await once(echo, 'listening');
  target = { host: '127.0.0.1', port: (echo.address() as { port: number }).port };
});

afterEach(() => {
  for (const each of open.splice(0)) each.close();
  echo.close();
});

async function openLink(): Promise<Link> {
  const link = await Link.open('test', () => target);
  open.push(link);
  return link;
}

/** A client whose connection may be reset at any time. */
function clientOf({ port }: Link, options: { host?: string; localPort?: number } = {}): Socket {
  const socket = connect({ host: '127.0.0.1', port, ...options });
  socket.on('error', () => undefined);
  open.push({ close: () => socket.destroy() });
  return socket;
}

/** What a new connection, or the given one, gets for a byte: the byte, a reset or nothing. */
async function answerOf(link: Link, socket?: Socket): Promise<'echo' | 'reset' | 'silence'> {
  const client = socket ?? clientOf(link);
  if (client.destroyed) return 'reset';
  client.write('x');
  return Promise.race([
    once(client, 'data').then(() => 'echo' as const),
    once(client, 'close').then(() => 'reset' as const),
    sleep(PATIENCE_MS, 'silence' as const, { ref: false }),
  ]).catch(() => 'reset' as const);
}

/** The number of bytes that the link has received from clients and not sent on. */
function heldBack(link: Link): number {
  const { connections } = link as unknown as { connections: Set<{ near: Socket }> };
  return [...connections].reduce((sum, { near }) => sum + near.readableLength, 0);
}

describe('a link', () => {
  test('refuses until the last of two overlapping refusals has ended', async () => {
    const link = await openLink();
    const first = link.refuse();
    const second = link.refuse();
    first();
    first();
    expect([await answerOf(link), link.faulty]).toEqual(['reset', true]);
    second();
    expect([await answerOf(link), link.faulty]).toEqual(['echo', false]);
  });

  test('holds data back until the last of two overlapping stalls has ended', async () => {
    const link = await openLink();
    const client = clientOf(link);
    const first = link.stall();
    const second = link.stall();
    first();
    const answer = answerOf(link, client);
    await expect.poll(() => heldBack(link)).toBe(1);
    expect(link.faulty).toBe(true);
    second();
    expect([await answer, link.faulty]).toEqual(['echo', false]);
  });

  test('is still stalled after a refusal has ended', async () => {
    const link = await openLink();
    link.stall();
    link.refuse()();
    void answerOf(link);
    await expect.poll(() => heldBack(link)).toBe(1);
  });

  test('has no fault after it is healed, and the end of a former fault ends no later one', async () => {
    const link = await openLink();
    const former = link.refuse();
    link.heal();
    expect(await answerOf(link)).toBe('echo');
    link.refuse();
    former();
    expect(await answerOf(link)).toBe('reset');
  });

  test('counts only connections that reached the target', async () => {
    const link = await openLink();
    await answerOf(link);
    link.refuse();
    await answerOf(link);
    link.heal();
    target = { ...target, port: 1 };
    await answerOf(link);
    expect(link.relayed).toBe(1);
  });
});

describe('a link knows', () => {
  test('whether a client reached the target', async () => {
    const link = await openLink();
    const client = clientOf(link);
    expect([await answerOf(link, client), link.reached(client.localPort!)]).toEqual(['echo', true]);
    target = { ...target, port: 1 };
    const localPort = await freePort();
    expect(await answerOf(link, clientOf(link, { localPort }))).toBe('reset');
    expect(link.reached(localPort)).toBe(false);
  });

  test('whether there was a fault, also a short one', async () => {
    const link = await openLink();
    expect(link.wasFaulty(Date.now())).toBe(false);
    const before = Date.now();
    link.cut();
    expect([link.faulty, link.wasFaulty(before), link.wasFaulty(Date.now() + 1)]).toEqual([
      false,
      true,
      false,
    ]);
    const end = link.stall();
    expect(link.wasFaulty(Date.now() + 1)).toBe(true);
    end();
    expect([link.wasFaulty(before), link.wasFaulty(Date.now() + 1)]).toEqual([true, false]);
  });
});

describe('a party that has moved', () => {
  test('is no longer at its former address, and moves back without ending another fault', async () => {
    const site = await Site.open(
      'test',
      () => target,
      () => undefined,
    );
    open.push(...site.all());
    const cut = site.at('home').refuse();
    site.lead('moved');
    cut();
    const moved = clientOf(site.at('moved'), { host: ADDRESSES.moved });
    expect(await answerOf(site.at('home'))).toBe('reset');
    expect(await answerOf(site.at('moved'), moved)).toBe('echo');

    const cutAgain = site.at('home').refuse();
    site.lead('home');
    expect(await answerOf(site.at('home'))).toBe('reset');
    expect(await answerOf(site.at('moved'), moved)).toBe('reset');
    cutAgain();
    expect(await answerOf(site.at('home'))).toBe('echo');
  });
});
