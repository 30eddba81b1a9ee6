import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { expect, test } from 'vitest';

/** Writes lines of half a megabyte together, once its standard input has ended, and ends at once. */
const PROGRAM = `
  import { readConfiguration } from './dist/config/configuration.js';
  import { ServiceLogger } from './dist/observability/logging.js';
  const logger = new ServiceLogger(readConfiguration({ SANDBOX: 'true', LOG_PRETTY: 'false' }), {});
  // As a pipe, standard output then no longer blocks the process.
  void process.stdout;
  process.stdin.resume().on('end', () => {
    for (let line = 0; line < 5_000; line += 1) logger.log('x'.repeat(100));
    process.exit(7);
  });
`;

function program(stdout: 'pipe' | number) {
  return spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
    stdio: ['pipe', stdout, 'inherit'],
  });
}

async function statusOf(child: ReturnType<typeof program>): Promise<unknown> {
  const ended = once(child, 'exit');
  child.stdin!.end();
  const [status] = await ended;
  return status;
}

test('a process ends although the reader of its log is gone', async () => {
  const child = program('pipe');
  child.stdout!.destroy();
  expect(await statusOf(child)).toBe(7);
});

test('a process ends although the reader of its log stalls', async () => {
  const child = program('pipe');
  expect(await statusOf(child)).toBe(7);
  child.stdout!.destroy();
});

test.runIf(process.platform === 'linux')('a process ends although the disk of its log is full', async () => {
  const full = await open('/dev/full', 'w');
  expect(await statusOf(program(full.fd))).toBe(7);
  await full.close();
});

test('a process that ends at once has written its last line', async () => {
  const child = program('pipe');
  let written = '';
  child.stdout!.on('data', (chunk: Buffer) => (written += chunk.toString()));
  const closed = once(child.stdout!, 'close');
  expect(await statusOf(child)).toBe(7);
  await closed;
  expect(written.trimEnd().split('\n')).toHaveLength(5_000);
});
