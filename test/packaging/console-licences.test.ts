import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Licence {
  readonly name: string;
  readonly identifier: string;
  readonly text?: string;
}

/** Written by the bundler: the packages whose code is in the bundle of the console. */
const licences = JSON.parse(readFileSync('dist/console-app/licences.json', 'utf8')) as Licence[];

test('the bill of materials lists each package that the console contains', () => {
  const [, list = ''] = /const BUNDLED = \[([^\]]*)\]/.exec(readFileSync('ops/sbom.mjs', 'utf8')) ?? [];
  const listed = Array.from(list.matchAll(/'([^']+)'/g), ([, name]) => name);
  expect(listed).toEqual(licences.map(({ name }) => name).sort());
});

test('the bundle is accompanied by the text of each licence, all of them permissive', () => {
  for (const { name, identifier, text } of licences) {
    expect(['MIT', 'ISC', 'BSD-3-Clause'], name).toContain(identifier);
    expect(text?.length, name).toBeGreaterThan(500);
  }
});
