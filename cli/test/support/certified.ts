import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished, type TestContext } from 'vitest';
import { temporaryFolder } from '../../../test/world/temporary-folder.js';
import { command } from './command.js';

/** The cases that fail at a server that accepts every signature, in the order in which they run. */
export const SIGNATURE_REFUSALS = [
  'body-tampered',
  'body-spaced',
  'secret-wrong',
  'tenant-missing',
  'timestamp-missing',
  'nonce-missing',
  'signature-missing',
  'headers-empty',
  'signature-malformed',
  'signature-shortened',
  'signature-extended',
  'tenant-wrong',
  'tenant-similar',
  'timestamp-old',
  'timestamp-future',
  'timestamp-milliseconds',
  'timestamp-no-number',
  'timestamp-changed',
  'nonce-changed',
  'method-changed',
  'path-changed',
  'query-added',
  'nonce-replayed',
  'nonce-replayed-elsewhere',
  'nonce-replayed-at-once',
  'forged-call-leaves-nonce',
];

export const only = (...ids: string[]) => ids.flatMap((id) => ['--only', id]);

/** A test that runs beside others must pass its own `onTestFinished`: the global one may end with another test. */
export type AtEnd = TestContext['onTestFinished'];

/** A folder for the reports of the current test. */
export async function reportFolder(atEnd: AtEnd = onTestFinished): Promise<string> {
  const folder = await temporaryFolder();
  atEnd(() => folder.remove());
  return folder.path;
}

/** What a test of a whole certification may replace. */
export type Surroundings = Pick<Parameters<typeof command>[1] & object, 'now' | 'onPrinted' | 'idleMs'>;

/** A run that takes ten minutes longer than the real time, all of them after the first case. */
export function longRun(): Surroundings {
  let laterMs = 0;
  return {
    now: () => Date.now() + laterMs,
    onPrinted: (text) => {
      if (text.startsWith('✓')) laterMs = 600_000;
    },
  };
}

/**
 * Certifies with these arguments, the first of which names the command. Also returns the number of cases, and the ids of
 * those that failed and of those that were blocked.
 */
export async function certify(
  [name = '', ...options]: string[],
  secret: string,
  atEnd?: AtEnd,
  surroundings?: Surroundings,
) {
  const json = join(await reportFolder(atEnd), 'report.json');
  // First, because the options of certify-client end with the client's own command line.
  const result = await command([name, '--json', json, ...options], { secret, ...surroundings });
  const { cases } = JSON.parse(await readFile(json, 'utf8')) as { cases: { id: string; outcome: string }[] };
  const idsOf = (outcome: string) => cases.filter((each) => each.outcome === outcome).map(({ id }) => id);
  return { ...result, count: cases.length, failed: idsOf('failed'), blocked: idsOf('blocked') };
}
