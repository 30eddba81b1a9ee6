import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CLIENT_CASES } from '../src/certify/client/cases.js';
import { WALLET_CASES } from '../src/certify/operator/cases.js';
import { PROVIDER_CASES } from '../src/certify/provider/cases.js';
import { command } from './support/command.js';

const ROOT = join(import.meta.dirname, '../..');
const PAGES = [
  'docs/contract.md',
  'sdk/docs/other-languages.md',
  ...readdirSync(join(ROOT, 'docs/integrate')).map((name) => join('docs/integrate', name)),
]
  .filter((name) => name.endsWith('.md'))
  .map((name) => plain(readFileSync(join(ROOT, name), 'utf8')));

/** The text of a page without emphasis, links and code marks, with single spaces. */
function plain(markdown: string): string {
  return markdown
    .replace(/\[([^[\]]+)\]\([^()]+\)/g, '$1')
    .replace(/[`*]/g, '')
    .replace(/\s+/g, ' ');
}

describe.each([
  ['certify', PROVIDER_CASES],
  ['certify-operator', WALLET_CASES],
  ['certify-client', CLIENT_CASES],
] as const)('%s', (name, cases) => {
  test('holds rules that stand in the documents, word for word', () => {
    const rules = new Set(cases.map(({ rule }) => rule));
    expect(rules.size).toBeGreaterThan(10);
    expect([...rules].filter((rule) => !PAGES.some((page) => page.includes(plain(rule))))).toEqual([]);
  });

  test('lists every case with its title and its rule', async () => {
    const { status, printed } = await command([name, '--list']);
    expect(status).toBe(0);
    const lines = printed.split('\n');
    expect(lines).toHaveLength(cases.length);
    for (const [index, { id, title, rule }] of cases.entries()) {
      expect(lines[index]).toMatch(new RegExp(`^\\w+ +${id} `));
      expect(lines[index]).toContain(`${title}. Rule: ${rule}`);
    }
  });
});

test.each([
  ['certify', PROVIDER_CASES],
  ['certify-operator', WALLET_CASES],
  ['certify-client', CLIENT_CASES],
] as const)('every case of %s has a rule', (_, cases) => {
  expect(cases.filter(({ rule }) => !rule).map(({ id }) => id)).toEqual([]);
});
