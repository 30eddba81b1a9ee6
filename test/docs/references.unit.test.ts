import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const DOCUMENTS = ['.', 'docs', 'docs/adr', 'docs/contributing', 'docs/integrate', 'sdk', 'sdk/docs', 'cli']
  .flatMap((folder) => (existsSync(join(ROOT, folder)) ? markdownIn(folder) : []))
  .sort();

function markdownIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));
}

const OTHER_SOURCES = [
  'bench',
  'chaos',
  'model',
  'mutants',
  'ops',
  'sdk/test',
  'sdk/examples',
  'cli/test',
].flatMap(sourcesIn);

const TEST_FILES = ['test', 'sdk/test', 'cli/test'].flatMap(sourcesIn);

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

test.each(DOCUMENTS)('%s names test files that exist, with or without their folder', (path) => {
  const names = matches(read(path), /`([\w./-]+\.test\.ts)`/g);
  expect(names.filter((name) => !TEST_FILES.some((file) => `/${file}`.endsWith(`/${name}`)))).toEqual([]);
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

describe('the contract', () => {
  const sections = read('docs/contract.md')
    .split(/^## (?=\d)/m)
    .slice(1);
  const numbered = new Map(sections.map((text) => [String(parseInt(text)), text]));
  const citations = [
    ...sourcesIn('src'),
    ...sourcesIn('sdk/src'),
    ...sourcesIn('cli/src'),
    ...sourcesIn('test'),
    ...OTHER_SOURCES,
  ]
    .concat(DOCUMENTS)
    .flatMap((path) => citationsIn(unwrapped(read(path))).map((citation) => ({ path, ...citation })));

  test('has the sections that are cited', () => {
    expect(citations.length).toBeGreaterThan(190);
    expect(citations.filter(({ section }) => !numbered.has(section))).toEqual([]);
  });

  test('has the headings that are cited, in their sections', () => {
    const quoted = citations.filter(({ heading }) => heading !== undefined);
    expect(quoted.length).toBeGreaterThan(50);
    const missing = quoted.filter(({ section, heading = '' }) => {
      const text = numbered.get(section) ?? '';
      return !matches(text, /^#+ (.+)$/gm).includes(heading);
    });
    expect(missing).toEqual([]);
  });

  test('has the sections that it refers to itself', () => {
    const named = matches(read('docs/contract.md'), /\bsections? (\d+(?:(?:, | and | to )\d+)*)/g);
    const wrong = named
      .flatMap((list) => matches(list, /(\d+)/g))
      .filter((section) => !numbered.has(section));
    expect(wrong).toEqual([]);
  });

  test('is complete on its own, because /docs/contract serves it without its neighbours', () => {
    const links = matches(read('docs/contract.md'), /\]\(([^)\s]+)\)/g);
    expect(links.filter((link) => !link.startsWith('#'))).toEqual([]);
  });
});

interface Citation {
  readonly section: string;
  /** A quoted heading of the section; absent if the citation names only the section. */
  readonly heading?: string;
}

/** Citations such as `Contract, section 3, "A ROLLBACK", and section 6` or `the contract's sections 1 and 4`. */
function citationsIn(text: string): Citation[] {
  const list = /\bcontract(?:'s|,) sections? (\d+(?:(?:,? and|,| to)? (?:section )?(?:\d+\b|"[^"]+"))*)/gi;
  return matches(text, list).flatMap((cited) => {
    let section = '';
    return [...cited.matchAll(/"([^"]+)"|(\d+)/g)].map(([, heading, number]) => {
      section = number ?? section;
      return heading === undefined ? { section } : { section, heading };
    });
  });
}

/** The text with each wrapped sentence on one line, without the signs of comments. */
function unwrapped(text: string): string {
  return text.replace(/\n\s*(?:\*|\/\/|--)? ?/g, ' ');
}

/** The project's own sources in a folder, without what is installed, built or checked out into it. */
function sourcesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:ts|mjs|js|sql|sh)$/.test(name) && !/node_modules|dist|^\.previous/.test(name))
    .map((name) => join(folder, name));
}
