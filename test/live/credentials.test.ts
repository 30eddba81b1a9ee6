import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LiveStream } from '../../src/live/live-stream.service.js';

/** A response whose client reads everything. */
class OpenResponse extends EventEmitter {
  readonly req = { method: 'GET' };
  readonly destroyed = false;
  readonly writableLength = 0;
  readonly writeHead = vi.fn();
  readonly write = () => true;
  readonly end = vi.fn();
}

let nowMs = 1_000;
const identify = vi.fn();
let pass: () => Promise<void>;
let stream: LiveStream;

beforeEach(() => {
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  identify.mockReset();
  stream = new LiveStream(
    { begun: true, read: () => Promise.resolve([]) } as never,
    { read: () => Promise.resolve({}) } as never,
    { identify, isLookedUp: (credential: string) => credential.startsWith('key') } as never,
    { stopping: false },
    { addGauge: () => undefined } as never,
    {
      add: ({ work }: { work: () => Promise<void> }) => {
        pass = work;
        return { run: work };
      },
    } as never,
  );
});
afterEach(() => {
  vi.restoreAllMocks();
});

async function open(credential: string, actor = credential): Promise<OpenResponse> {
  const response = new OpenResponse();
  await stream.open(actor, credential, response as never);
  return response;
}

const isEnded = ({ end }: OpenResponse) => end.mock.calls.length > 0;

test('eight credentials are checked at once, and each only once', async () => {
  const names = Array.from({ length: 20 }, (_, n) => `key ${n}`);
  const responses = await Promise.all(names.map((name) => open(name)));
  let [checking, most] = [0, 0];
  identify.mockImplementation(async (credential: string) => {
    most = Math.max(most, (checking += 1));
    await new Promise(setImmediate);
    checking -= 1;
    return credential === 'key 7' ? undefined : { roles: ['auditor'] };
  });
  nowMs += 4_000;
  await pass();
  expect(most).toBe(8);
  expect(identify.mock.calls.map(([credential]) => credential as string)).toEqual(names);
  expect(responses.map(isEnded)).toEqual(names.map((name) => name === 'key 7'));
});

test('while the database is away, keys are judged by their age after the wait, and the others do not wait', async () => {
  const names = ['token', ...Array.from({ length: 20 }, (_, n) => `key ${n}`), 'root'];
  const openedMs = nowMs;
  const responses = await Promise.all(names.map((name) => open(name)));
  identify.mockImplementation(async (credential: string) => {
    if (credential === 'root') return { roles: ['admin'] };
    await new Promise(setImmediate);
    if (credential !== 'token') nowMs = openedMs + 11_000;
    throw new Error('away');
  });
  nowMs += 4_000;
  await pass();
  // Seven keys wait beside the token, one takes its place, and no other one waits.
  const asked = identify.mock.calls.map(([credential]) => credential as string);
  expect(asked).toEqual([...names.slice(0, 9), 'root']);
  expect(responses.map(isEnded)).toEqual(names.map((name) => name.startsWith('key')));
});

test("an issuer's failure keeps no key from being looked up", async () => {
  await open('token');
  for (let n = 0; n < 20; n += 1) await open(`key ${n}`);
  identify.mockImplementation((credential: string) =>
    credential === 'token' ? Promise.reject(new Error('issuer')) : Promise.resolve({ roles: ['auditor'] }),
  );
  nowMs += 4_000;
  await pass();
  expect(identify).toHaveBeenCalledTimes(21);
});

test('an administrator has at most 250 streams, even with a token for each', async () => {
  for (let n = 0; n < 250; n += 1) await open(`token ${n}`, 'jwt:ann');
  await expect(open('token 250', 'jwt:ann')).rejects.toMatchObject({ code: 'OVERLOADED' });
  await open('token 251', 'jwt:bob');
});
