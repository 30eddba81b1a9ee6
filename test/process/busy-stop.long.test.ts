import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, type ClientRequest, get, type IncomingMessage } from 'node:http';
import { afterEach, expect, test } from 'vitest';

const DELAY_MS = 1_000;
/** Longer than the delay, so that the delay ends meanwhile. */
const BUSY_MS = 2_000;

/** An HTTP server that stops as the service does, and is busy for `BUSY_MS` on SIGUSR2. */
const PROGRAM = `
  import { createServer } from 'node:http';
  import { onStopSignal } from './dist/runtime/shutdown.js';
  const server = createServer((request, response) => response.end());
  onStopSignal(
    () => server,
    () => {
      process.send('stopping');
      return { delayMs: ${DELAY_MS}, limitMs: 10_000 };
    },
    () => new Promise((resolve) => server.close(resolve)),
    () => undefined,
  );
  process.on('SIGUSR2', () => {
    process.send('busy');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${BUSY_MS});
  });
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
`;

let child: ChildProcess;
afterEach(() => child.kill('SIGKILL'));

/** The status of the answer, or the error code if there is no answer. */
async function outcomeOf(call: ClientRequest): Promise<number | string | undefined> {
  try {
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    response.resume();
    await once(response, 'end');
    return response.statusCode;
  } catch (error) {
    return (error as { code: string }).code;
  }
}

test('a process that is too busy to read answers what arrived before its delay was over', async () => {
  child = spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const [port] = (await once(child, 'message')) as [number];
  const agent = new Agent({ keepAlive: true });
  const call = (options: { agent: Agent | false }) => get({ host: '127.0.0.1', port, ...options });
  expect(await outcomeOf(call({ agent }))).toBe(200);
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await once(child, 'message');
  child.kill('SIGUSR2');
  await once(child, 'message');
  const kept = call({ agent });
  const others = Array.from({ length: 8 }, () => call({ agent: false }));
  expect(await Promise.all([kept, ...others].map(outcomeOf))).toEqual(Array(9).fill(200));
  expect(kept.reusedSocket).toBe(true);
  agent.destroy();
  expect(await exited).toEqual([0, null]);
});
