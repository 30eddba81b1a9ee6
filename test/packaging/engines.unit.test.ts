import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import semver from 'semver';
import { expect, test } from 'vitest';

const OLDEST = '20.19.0';

interface LockedPackage {
  readonly version?: string;
  readonly engines?: { readonly node?: string };
}

/** Versions of Node that the README promises: the oldest supported one, and the latest of 22 and 24. */
test.each([OLDEST, '22.23.0', '24.99.0'])('every locked package supports Node %s', async (node) => {
  const text = await readFile(join(import.meta.dirname, '../../package-lock.json'), 'utf8');
  const { packages } = JSON.parse(text) as { packages: Record<string, LockedPackage> };
  const unsupported = Object.entries(packages)
    .filter(([, { engines }]) => engines?.node !== undefined && !semver.satisfies(node, engines.node))
    .map(([path, { version, engines }]) => `${path}@${version} wants ${engines?.node}`);
  expect(unsupported).toEqual([]);
});
