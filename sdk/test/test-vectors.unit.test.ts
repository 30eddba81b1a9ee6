import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { judge, type TestVector, testVectors } from './support/test-vectors.js';

const FILE = fileURLToPath(new URL('../test-vectors.json', import.meta.url));

// To write the file again: npx vitest run sdk/test/test-vectors.unit.test.ts --update
test('the file equals the output of its generator', async () => {
  await expect(`${JSON.stringify(testVectors(), null, 2)}\n`).toMatchFileSnapshot(FILE);
});

test('the vectors are many, each with a name of its own, for every reason but the tenant’s', async () => {
  const vectors = JSON.parse(await readFile(FILE, 'utf8')) as TestVector[];
  expect(vectors.length).toBeGreaterThanOrEqual(40);
  expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length);
  expect(new Set(vectors.map(({ expected }) => (expected.ok ? 'ok' : expected.reason)))).toEqual(
    new Set([
      'ok',
      'missing_header',
      'malformed_header',
      'timestamp_expired',
      'timestamp_in_future',
      'signature_mismatch',
    ]),
  );
  for (const { name, expected, ...call } of vectors) expect([name, judge(call)]).toEqual([name, expected]);
});
