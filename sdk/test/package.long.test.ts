import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../../test/world/temporary-folder.js';

const run = promisify(execFile);
const SDK = fileURLToPath(new URL('..', import.meta.url));
/** Time-out for npm on a busy machine, in milliseconds. */
const PATIENCE_MS = 60_000;

const USE = `
  const headers = signRequest({ method: 'POST', path: '/', body: '', tenantId: 't', secret: 's', nonce: 'nonce-0001', now: 1 });
  const said = verifyPlatformSignature({ method: 'POST', path: '/', body: '', tenantId: 't', secret: 's', now: 1, headers });
  console.log(JSON.stringify([said, typeof ProviderClient, typeof createCallbackHandler, vectors.length > 40, Object.keys(openapi.paths)[0]]));
`;
const NAMES = '{ createCallbackHandler, ProviderClient, signRequest, verifyPlatformSignature }';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let tarball: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  // Without scripts, because prepack would rebuild files that other tests are using.
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder.path];
  const { stdout } = await run('npm', args, { cwd: SDK });
  const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  tarball = join(folder.path, packed.filename);
  const paths = packed.files.map(({ path }) => path);
  expect(paths).toEqual(
    expect.arrayContaining(['README.md', 'LICENSE', 'CHANGELOG.md', 'llms.txt', 'test-vectors.json']),
  );
  expect(paths.filter((path) => /^(test|src)\/|tsbuildinfo|docs\/api/.test(path))).toEqual([]);
}, PATIENCE_MS);
afterAll(() => folder.remove());

/** A project that has only the tarball installed. */
async function project(name: string): Promise<string> {
  const path = join(folder.path, name);
  await mkdir(path);
  await writeFile(join(path, 'package.json'), '{"private":true}');
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], { cwd: path });
  return path;
}

test('an ES-module project takes the tarball', { timeout: PATIENCE_MS }, async () => {
  const cwd = await project('esm');
  const vectors = `import vectors from '@croupier/provider-sdk/test-vectors.json' with { type: 'json' };`;
  const openapi = `import openapi from '@croupier/provider-sdk/openapi.json' with { type: 'json' };`;
  await writeFile(
    join(cwd, 'use.mjs'),
    `import ${NAMES} from '@croupier/provider-sdk';\n${vectors}\n${openapi}\n${USE}`,
  );
  const { stdout } = await run('node', ['use.mjs'], { cwd });
  expect(stdout.trim()).toBe('[{"ok":true},"function","function",true,"/v1/wallet/session/verify"]');
});

test('a CommonJS project takes the tarball', { timeout: PATIENCE_MS }, async () => {
  const cwd = await project('cjs');
  const vectors = `const vectors = require('@croupier/provider-sdk/test-vectors.json');`;
  const openapi = `const openapi = require('@croupier/provider-sdk/openapi.json');`;
  await writeFile(
    join(cwd, 'use.cjs'),
    `const ${NAMES} = require('@croupier/provider-sdk');\n${vectors}\n${openapi}\n${USE}`,
  );
  const { stdout } = await run('node', ['use.cjs'], { cwd });
  expect(stdout.trim()).toBe('[{"ok":true},"function","function",true,"/v1/wallet/session/verify"]');
});
