import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';

const LIMIT_MS = 4_000;

/** An HTTP server that stops as the service does, and answers after the milliseconds in the address. */
const PROGRAM = `
  import { createServer } from 'node:http';
  import { onStopSignal } from './dist/runtime/shutdown.js';
  const server = createServer((request, response) => {
    setTimeout(() => response.end(), Number(request.url.slice(1)));
    process.kill(process.pid, 'SIGTERM');
  });
  onStopSignal(
    () => server,
    () => ({ delayMs: 0, limitMs: ${LIMIT_MS} }),
    () => new Promise((resolve) => server.close(resolve)),
    ({ outcome }) => process.send(outcome),
  );
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
`;

let child: ChildProcess;
afterEach(() => child.kill('SIGKILL'));

test.each([
  // As when a call began just before the stop and took the longest time-out, which ends two seconds before the limit.
  ['that is answered 2.1 s before the limit is answered', LIMIT_MS - 2_100, 200, 'clean'],
  ['without an answer is cut off, and the stop says so', 60_000, undefined, 'cut off at the limit'],
])('a request %s', async (_, answeredAfterMs, status, outcome) => {
  child = spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const [port] = (await once(child, 'message')) as [number];
  const stopped = once(child, 'message');
  const answer = await fetch(`http://127.0.0.1:${port}/${answeredAfterMs}`).catch(() => undefined);
  expect(answer?.status).toBe(status);
  expect(await stopped).toEqual([outcome, undefined]);
});
