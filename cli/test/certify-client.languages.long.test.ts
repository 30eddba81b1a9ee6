import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { build, COMPILER_PATIENCE_MS, LANGUAGES, lacks } from '../../sdk/test/support/languages.js';
import { temporaryFolder } from '../../test/world/temporary-folder.js';
import { command } from './support/command.js';
import { CLIENTS, WEB_REQUEST_POST } from './support/documented-clients.js';

/** Time-out of one attempt, in milliseconds: long enough for a busy machine to answer. */
const ATTEMPT_MS = 2000;
/** Time-out of all cases, some of which wait for several attempts, in milliseconds. */
const PATIENCE_MS = COMPILER_PATIENCE_MS + 600_000;

// At the same time, because most cases wait for time-outs.
describe.concurrent('the documented retries', () => {
  for (const language of LANGUAGES) {
    test.skipIf(lacks(language))(`in ${language} are certified`, { timeout: PATIENCE_MS }, async () => {
      const folder = await temporaryFolder();
      const main = language === 'csharp' ? WEB_REQUEST_POST + CLIENTS[language] : CLIENTS[language];
      const client = await build(language, main, folder.path);
      const report = join(folder.path, 'report.json');
      const options = ['--attempt-ms', String(ATTEMPT_MS), '--json', report];
      const { status } = await command(['certify-client', ...options, '--', ...client]);
      const { cases } = JSON.parse(await readFile(report, 'utf8')) as { cases: { outcome: string }[] };
      expect(cases.filter(({ outcome }) => outcome !== 'passed')).toEqual([]);
      expect(cases.length).toBeGreaterThanOrEqual(49);
      expect(status).toBe(0);
      await folder.remove();
    });
  }
});
