import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const DOCUMENTS = ['.', 'docs', 'docs/adr', 'docs/integrate', 'sdk', 'sdk/docs']
  .flatMap((folder) => (existsSync(join(ROOT, folder)) ? markdownIn(folder) : []))
  .sort();

function markdownIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));
}

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const matches = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, found]) => found ?? '');

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

describe.each(DOCUMENTS)('%s', (path) => {
  const text = read(path);

  test('links to files and headings that exist', () => {
    const broken = matches(text, /\]\(([^)\s]+)\)/g)
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter((link) => {
        const [file = '', anchor] = link.split('#');
        const target = file === '' ? path : relative(ROOT, join(ROOT, dirname(path), file));
        if (!existsSync(join(ROOT, target))) return true;
        return (
          anchor !== undefined &&
          !matches(read(target), /^#+ (.+)$/gm)
            .map(anchorOf)
            .includes(anchor)
        );
      });
    expect(broken).toEqual([]);
  });

  test('names source files that exist', () => {
    const files = matches(text, /`((?:[\w-]+\/)+[\w.-]+\.(?:ts|mjs|sql|sh))`/g);
    const missing = files.filter((file) =>
      ['', 'src', dirname(path), join(dirname(path), '..')].every(
        (folder) => !existsSync(join(ROOT, folder, file)),
      ),
    );
    expect(missing).toEqual([]);
  });
});

test('every name of the glossary occurs in the code or in a migration', () => {
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => read(join('src', name)))
    .join('\n');
  const names = read('docs/glossary.md')
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .flatMap((line) => matches(line.split('|').slice(3, 5).join(' '), /`([^`]+)`/g))
    .map((name) => name.replace(/^…|…$/g, ''));
  expect(names.filter((name) => !sources.includes(name))).toEqual([]);
});

test('every heading of the contract that a comment cites is in the section that it names', () => {
  const headings = read('docs/contract.md')
    .split(/^## /m)
    .slice(1)
    .flatMap((section) => matches(section, /^#+ (.+)$/gm).map((title) => `${parseInt(section)} ${title}`));
  const cited = ['src', 'sdk/src'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => read(join(folder, name)).replace(/\n\s*(?:\*|\/\/) /g, ' '))
      .flatMap((text) => [...text.matchAll(/Contract, section (\d+), "([^"]+)"/g)])
      .map(([, section, title]) => `${section} ${title}`),
  );
  expect(cited.length).toBeGreaterThan(20);
  expect(cited.filter((citation) => !headings.includes(citation))).toEqual([]);
});
