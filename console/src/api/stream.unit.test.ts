import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { beginSession, endSession, type Me } from './session.ts';
import { connection, followStream, overview } from './stream.ts';

const HOLDER: Me = {
  actor: 'root',
  name: 'root',
  role: 'admin',
  environment: 'production',
  version: '1.0.0',
  instance: '0b7c3c1e-52a1-4c0b-9d38-6a0f3f6f2d11',
};
const OVERVIEW = 'event: overview\ndata: {"operators":[]}\n\n';
const COMMENT = ':\n\n';

let stop: () => void;
/** Sends text on the connection that was opened last. */
let send: (text: string) => void;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  vi.stubGlobal('sessionStorage', { removeItem: () => undefined });
  vi.stubGlobal('fetch', (_address: string, { signal }: { signal: AbortSignal }) => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        send = (text) => controller.enqueue(new TextEncoder().encode(text));
        signal.addEventListener('abort', () => controller.error(signal.reason));
      },
    });
    return Promise.resolve(new Response(body));
  });
  stop = followStream();
});

afterEach(() => {
  stop();
  endSession();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('a stream of comments without overviews is not live', async () => {
  beginSession('key', HOLDER, false);
  await expect.poll(() => connection.value).toBe('live');
  for (let sent = 0; sent < 3; sent += 1) {
    overview.value = undefined;
    send(OVERVIEW);
    await expect.poll(() => overview.value).toBeDefined();
    vi.advanceTimersByTime(15_000);
    send(COMMENT);
    expect(connection.value).toBe('live');
  }
  vi.advanceTimersByTime(5_000);
  await expect.poll(() => connection.value).toBe('interrupted');
});
