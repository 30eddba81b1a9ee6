import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ACTIONS, actionsOf } from '../../src/audit/actions.js';

/** The texts behind `action:` of an entry and at the beginning of `audited:` and `sensitiveRead:` of a route. */
const PLACES = /\b(?:action|ACTION|audited|sensitiveRead)(?:: \[?| = )([^,;\n]*)/g;
const TEXT = /(['`])((?:[a-z-]|\$\{[^}]+\})+\.(?:[a-z-]|\$\{[^}]+\})+|search)\1/g;

/** Each action in the code. A template stands for all the actions that it can produce. */
const written = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) => [...readFileSync(join('src', file), 'utf8').matchAll(PLACES)])
  .flatMap(([, place]) => [...place!.matchAll(TEXT)].map(([, , text]) => text!));

const patterns = [...new Set(written)].map((text) => ({
  text,
  pattern: new RegExp(`^${text.replaceAll('.', '\\.').replaceAll(/\$\{[^}]+\}/g, '[a-z-]+')}$`),
}));

test.each(patterns)('$text is in the list of src/audit/actions.ts', ({ pattern }) => {
  expect(ACTIONS.filter((action) => pattern.test(action))).not.toEqual([]);
});

test('each action of the list is in the code, once and in alphabetical order', () => {
  expect(ACTIONS.filter((action) => !patterns.some(({ pattern }) => pattern.test(action)))).toEqual([]);
  expect(ACTIONS).toEqual([...new Set(ACTIONS)].sort());
});

test.each([
  ['key.list', ['key.list']],
  ['search', ['search']],
  ['limit.*', ACTIONS.filter((action) => action.startsWith('limit.'))],
  ['free-spins.*', ACTIONS.filter((action) => action.startsWith('free-spins.'))],
  ...[
    '',
    '.',
    '.*',
    '*',
    'limit',
    'limit.',
    'limit*',
    'lim.*',
    'limit.c*',
    'search.*',
    'limit.*.*',
    'LIMIT.*',
  ].map((filter): [string, string[]] => [filter, []]),
])('the filter %j selects %j', (filter, selected) => {
  expect(actionsOf(filter)).toEqual(selected);
});
