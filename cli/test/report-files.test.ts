import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { BrokenProvider } from './support/broken-provider.js';
import { only, reportFolder } from './support/certified.js';
import { command } from './support/command.js';

async function certified(...options: string[]) {
  const provider = await BrokenProvider.start();
  onTestFinished(() => provider.stop());
  const args = ['certify', '--webhook-base-url', provider.url, '--tenant', provider.tenantId];
  return command([...args, ...only('signed-call'), ...options], { secret: provider.secret });
}

test('a report that cannot be written is refused before the first case, and no other is changed', async () => {
  const folder = await reportFolder();
  const [json, html] = [join(folder, 'report.json'), join(folder, 'missing', 'certificate.html')];
  await writeFile(json, 'an earlier report');
  const { status, printed, complained } = await certified('--json', json, '--html', html);
  expect({ status, printed }).toEqual({ status: 2, printed: '' });
  expect(complained).toContain(`${html} cannot be written: ENOENT`);
  expect(await readFile(json, 'utf8')).toBe('an earlier report');
});

test('a report replaces a longer one', async () => {
  const json = join(await reportFolder(), 'report.json');
  await writeFile(json, 'x'.repeat(100_000));
  expect(await certified('--json', json)).toMatchObject({ status: 0 });
  expect(JSON.parse(await readFile(json, 'utf8'))).toMatchObject({ counts: { passed: 1 } });
});

test('if the disk is full for one report, the result is printed and the others are written', async () => {
  const json = join(await reportFolder(), 'report.json');
  const { status, printed, complained } = await certified('--junit', '/dev/full', '--json', json);
  expect(status).toBe(2);
  expect(printed).toContain('1 passed, 0 failed');
  expect(complained).toContain('/dev/full cannot be written: ENOSPC');
  expect(JSON.parse(await readFile(json, 'utf8'))).toMatchObject({ counts: { passed: 1 } });
});
