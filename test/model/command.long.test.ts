import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { PLANTS } from '../../model/scopes.js';
import { missingTools } from '../../model/spin.js';

const ROOT = join(import.meta.dirname, '../..');
const PROGRAM = join(ROOT, 'model/dist/model/model.js');

interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function model(args: readonly string[], path = process.env['PATH']): Promise<Ended> {
  const env = { PATH: path };
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [PROGRAM, ...args], { env });
    return { status: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as Ended & { code: number };
    return { status: code, stdout, stderr };
  }
}

describe('npm run model', () => {
  beforeAll(() => {
    execFileSync('npx', ['tsc', '-p', 'model'], { cwd: ROOT });
  });

  test('lists the planted bugs, one a line', async () => {
    const { status, stdout } = await model(['--list'], '');
    expect(stdout.trimEnd().split('\n')).toEqual(PLANTS.map(({ name }) => name));
    expect(status).toBe(0);
  });

  test.each([['--plant', 'no-such-bug'], ['--plant'], ['--unknown']])('refuses %s %s', async (...args) => {
    const { status, stderr } = await model(args.filter(Boolean));
    expect(stderr).toContain('usage: npm run model');
    expect(status).toBe(2);
  });

  test.each([[], ['--plants'], ['--plant', 'no-fencing']])(
    'says how to install spin and gcc',
    async (...args) => {
      const { status, stderr } = await model(args, '');
      expect(stderr).toBe('spin and gcc not found. On Debian: apt-get install spin gcc\n');
      expect(status).toBe(1);
    },
  );

  test('prints the trace of a planted bug', async ({ skip }) => {
    skip((await missingTools()).length > 0, 'spin or gcc is not installed');
    const { status, stdout } = await model(['--plant', 'resolver-without-lease']);
    expect(stdout.split('\n')).toEqual([
      expect.stringContaining('resolver-without-lease breaks this rule: '),
      expect.stringMatching(
        /^ {3}1\. instance [12] receives BET from the provider and claims it at once, attempt 1$/,
      ),
      expect.stringMatching(/^ {3}2\. the resolver of instance [12] finds that BET is due/),
      expect.stringMatching(/^ {3}3\. instance [12] claims PLATFORM_ROLLBACK, attempt 1$/),
      expect.stringMatching(/^ {3}4\. instance [12] calls the wallet for BET, attempt 1$/),
      'Violation: The wallet is called while a ROLLBACK of the transaction is under way.',
      '',
    ]);
    expect(status).toBe(1);
  });
});
