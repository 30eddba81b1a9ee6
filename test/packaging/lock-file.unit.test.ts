import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

interface Manifest {
  readonly name?: string;
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
}

interface LockedPackage extends Manifest {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
}

const LOCAL = ['', 'sdk', 'cli', 'bench', 'console', 'no-telemetry'];

const read = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));
const { lockfileVersion, packages } = read('package-lock.json') as {
  lockfileVersion: number;
  packages: Record<string, LockedPackage>;
};
const declared = ({ dependencies, devDependencies, optionalDependencies }: Manifest) => ({
  ...dependencies,
  ...devDependencies,
  ...optionalDependencies,
});

/** The packages that npm downloads. The others are folders of this repository, and links to them. */
const downloaded = Object.entries(packages).filter(([path, { link }]) => !LOCAL.includes(path) && !link);

describe('the lock file', () => {
  test('has the form that npm 10 and 11 read', () => {
    expect(lockfileVersion).toBe(3);
    expect(downloaded.length).toBeGreaterThan(300);
  });

  test('names no address: every package comes from the configured registry', () => {
    const addresses = downloaded.filter(([, { resolved }]) => resolved !== undefined);
    expect(addresses).toEqual([]);
  });

  test('links only to folders of this repository', () => {
    const targets = Object.values(packages).flatMap(({ link, resolved }) => (link ? [resolved] : []));
    expect(targets.sort()).toEqual(LOCAL.filter(Boolean).sort());
  });

  test('has a SHA-512 hash of every package', () => {
    const unhashed = downloaded.filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''));
    expect(unhashed).toEqual([]);
  });

  test('depends on versions only: nothing from git, from a URL or from a file outside of this repository', () => {
    const foreign = Object.entries(packages).flatMap(([path, locked]) =>
      Object.entries(declared(locked))
        .filter(
          ([, range]) => /[:/]/.test(range) && !range.startsWith('npm:') && range !== 'file:no-telemetry',
        )
        .map(([name, range]) => `${path}: ${name}@${range}`),
    );
    expect(foreign).toEqual([]);
  });

  test.each(['', 'sdk', 'cli', 'bench', 'console'])(
    'agrees with the manifest in %j, which names exact versions',
    (folder) => {
      const wanted = declared(read(`${folder || '.'}/package.json`) as Manifest);
      expect(declared(packages[folder] ?? {})).toEqual(wanted);
      const differing = Object.entries(wanted)
        .filter(([, range]) => !range.startsWith('file:'))
        .filter(([name, range]) => {
          const locked = packages[`${folder}/node_modules/${name}`] ?? packages[`node_modules/${name}`];
          return locked?.link !== true && locked?.version !== range;
        });
      expect(differing).toEqual([]);
    },
  );
});
