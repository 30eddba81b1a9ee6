import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PLANTS, SCOPES } from '../../model/scopes.js';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const DOCUMENT = read('docs/model.md');

/** The rows of the table after a comment `<!-- verified: … -->`, as cells. */
function rowsOf(table: string): string[][] {
  const after = DOCUMENT.split(`<!-- verified: ${table} -->`)[1] ?? '';
  const rows = after.trimStart().split('\n\n')[0]!.split('\n').slice(2);
  return rows.map((row) => row.split('|').map((cell) => cell.trim()));
}

interface Named {
  readonly file: string;
  readonly anchor: string;
}

/** The names in a cell: each belongs to the file before it. */
function namedIn(cell: string, isFile: RegExp): Named[] {
  let file = '';
  const named: Named[] = [];
  for (const [, name = ''] of cell.matchAll(/`([^`]+)`/g)) {
    if (isFile.test(name)) file = name;
    else named.push({ file, anchor: name });
  }
  return named;
}

/** Whether a source declares a function, method, constant or class with this name. */
function declares({ file, anchor }: Named): boolean {
  const path = join(ROOT, file);
  const modifiers = String.raw`(?:(?:export|private|static|async|function|const|class) )*`;
  return existsSync(path) && new RegExp(`^\\s*${modifiers}${anchor}\\b[(<:= ]`, 'm').test(read(file));
}

/** Whether the model defines a macro, an inline or a property, declares a variable or has a step with this name. */
function models({ file, anchor }: Named): boolean {
  const path = `model/${file}`;
  const forms = String.raw`#define ${anchor}\(|inline ${anchor}\(|ltl ${anchor} |(?:bit|byte|mtype) ${anchor}\[|:: d_step \{ step\[me\] == ${anchor} `;
  return existsSync(join(ROOT, path)) && new RegExp(`^\\s*(?:${forms})`, 'm').test(read(path));
}

describe('docs/model.md', () => {
  const steps = rowsOf('steps');

  test('names code that exists for each step', () => {
    const named = steps.map((cells) => namedIn(cells[3]!, /\//));
    expect(named.length).toBeGreaterThan(15);
    expect(named.filter((ofStep) => ofStep.length === 0)).toEqual([]);
    expect(named.flat().filter((one) => !declares(one))).toEqual([]);
  });

  test('names steps and invariants that the model has', () => {
    const rows = [...steps, ...rowsOf('invariants')];
    const named = rows.flatMap((cells) => namedIn(cells[1]!, /\.pml$/));
    expect(named.length).toBeGreaterThan(25);
    expect(named.filter((one) => !models(one))).toEqual([]);
  });

  test('names every step of an instance, the wallet and the clock', () => {
    const documented = steps.flatMap((cells) => namedIn(cells[1]!, /\.pml$/)).map(({ anchor }) => anchor);
    const protocol = read('model/protocol.pml');
    const macros = [...protocol.matchAll(/^#define ([A-Z]+)\(\w\) \\\n {2}:: d_step/gm)].map(
      ([, name]) => name,
    );
    const inlines = ['rules', 'statements'].flatMap((file) =>
      [...read(`model/${file}.pml`).matchAll(/^inline (\w+)\(/gm)].map(([, name]) => name),
    );
    expect(macros.length).toBeGreaterThan(3);
    expect([...macros, ...inlines].filter((name) => !documented.includes(name!))).toEqual([]);
  });

  test('lists the scopes and the planted bugs', () => {
    for (const { name } of SCOPES) expect(DOCUMENT).toContain(`| ${name} `);
    const listed = rowsOf('plants').map((cells) => cells[1]!.replaceAll('`', ''));
    expect(listed).toEqual(PLANTS.map(({ name }) => name));
  });
});

test('each planted bug has a macro in the model', () => {
  const model = ['plants', 'statements'].map((file) => read(`model/${file}.pml`)).join('\n');
  const planted = new Set([...model.matchAll(/PLANT_(\w+)/g)].map(([, name]) => name!));
  expect([...planted].sort()).toEqual(
    PLANTS.map(({ name }) => name.toUpperCase().replaceAll('-', '_')).sort(),
  );
});
