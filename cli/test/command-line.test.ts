import { expect, test } from 'vitest';
import { VERSION } from '../src/version.js';
import { command } from './support/command.js';

test('--version prints the version', async () => {
  expect(await command(['--version'])).toEqual({ status: 0, printed: VERSION, complained: '' });
});

test.each([['--help'], ['-h'], ['help'], ['help', '--help']])('%s lists the commands', async (...args) => {
  const { status, printed } = await command(args);
  expect({ status, printed }).toEqual({
    status: 0,
    printed: expect.stringMatching(/^croupier-provider COMMAND \[options\]/) as string,
  });
});

test.each([
  ['launch', '--help'],
  ['launch', '-h'],
  ['help', 'launch'],
])('%s %s shows the options of the command', async (...args) => {
  const { status, printed } = await command(args);
  expect({ status, printed }).toEqual({
    status: 0,
    printed: expect.stringMatching(/^croupier-provider launch /) as string,
  });
});

test.each([['lunch'], ['lunch', '--help'], ['help', 'lunch']])('%s %s names no command', async (...args) => {
  const { status, printed, complained } = await command(args);
  expect({ status, printed }).toEqual({ status: 2, printed: '' });
  expect(complained).toMatch(/^There is no command "lunch"\./);
});

test.each([
  'register',
  'launch',
  'certify',
  'certify-client',
  'certify-operator',
  'verify-certificate',
  'debug-signature',
])('%s names an option that it does not have', async (name) => {
  const { status, complained } = await command([name, '--bogus']);
  expect({ status, complained }).toEqual({
    status: 2,
    complained: `Unknown option '--bogus'\nSee: croupier-provider ${name} --help`,
  });
});
