import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { GroupStatement } from '../../src/database/group-statement.js';
import type { Statement } from '../../src/database/statement.js';
import { CLAIM_NEW_BET, CLAIM_NEW_WIN } from '../../src/wallet/fresh-claim.sql.js';
import * as claims from '../../src/wallet/claim.sql.js';
import * as settlements from '../../src/wallet/settlement.sql.js';
import * as wallet from '../../src/wallet/transaction.sql.js';

/*
 * Holds the plan of ADR 10 against the rules of distributed tables, as Citus has them: each unique key has the
 * distribution column, and a statement runs in one shard only if each of its tables is found by this column.
 */

const COLUMN = 'provider_id';
const PLAN = readFileSync('docs/adr/0010-sharding-by-provider.md', 'utf8');
const SCHEMA = readFileSync('docs/schema.sql', 'utf8');

/** The tables that the plan distributes, with what it says must change. */
const DISTRIBUTED = PLAN.split('\n').flatMap((line) => {
  const [, names = '', by = '', , changes = ''] = line.split('|').map((cell) => cell.trim());
  if (by !== `\`${COLUMN}\``) return [];
  return [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => ({ name, changes }));
});
const UNCHANGED = DISTRIBUTED.filter(({ changes }) => changes.startsWith('nothing')).map(({ name }) => name);
const CHANGED = DISTRIBUTED.map(({ name }) => name).filter((name) => !UNCHANGED.includes(name));

/** The columns of each primary key, unique constraint and unique index of a table. */
function uniqueKeysOf(table: string): string[][] {
  const [, body = ''] = new RegExp(`CREATE TABLE ${table} \\(\\n(.*?)\\n\\)`, 's').exec(SCHEMA) ?? [];
  const constraints = body.matchAll(/(?:PRIMARY KEY|UNIQUE) \(([^)]*)\)/g);
  const indexes = SCHEMA.matchAll(
    new RegExp(`CREATE UNIQUE INDEX \\w+ ON (?:ONLY )?${table} USING btree \\((.*?)\\)`, 'g'),
  );
  return [...constraints, ...indexes].map(([, columns = '']) => columns.split(', '));
}

/** The tables that a statement reads or updates, as often as it does, without their distribution column. */
function unlocated({ text }: Statement): string[] {
  return UNCHANGED.flatMap((table) => {
    const uses = [
      ...text.matchAll(new RegExp(`(?:FROM|JOIN|UPDATE) ${table}\\b(?: (?!SET|WHERE)(\\w+))?`, 'g')),
    ];
    const aliases = uses.map(([, alias]) => (alias === undefined ? '' : `${alias}.`));
    return [...new Set(aliases)].flatMap((alias) => {
      const located = text.match(new RegExp(`(?<![\\w.])${alias}${COLUMN} = `, 'g'))?.length ?? 0;
      return aliases
        .filter((each) => each === alias)
        .slice(located)
        .map(() => `${table} ${alias}`);
    });
  });
}

const formsOf = ({ single, batch }: GroupStatement) => [single, batch];
const MONEY = [
  ...[
    CLAIM_NEW_BET,
    CLAIM_NEW_WIN,
    wallet.LOAD,
    claims.CLAIM,
    claims.CLAIM_WIN,
    settlements.SETTLE,
    settlements.SETTLE_ROLLBACK,
  ].flatMap(formsOf),
  ...Object.values(claims.TAKE_TARGET),
  claims.MOVE_ROUND,
  claims.CLAIM_ADJUSTMENT,
  claims.RETRY,
  wallet.RECORD_REPORTED,
  wallet.MARK_ABOVE_LIMIT,
];

test('the plan distributes the tables of money', () => {
  expect(UNCHANGED).toEqual(
    expect.arrayContaining(['transactions', 'rounds', 'operator_answers', 'wins_above_limit']),
  );
  expect(CHANGED).toContain('sessions');
});

test.each(UNCHANGED.filter((name) => name !== 'attempt_ids'))(
  'each unique key of %s has the distribution column',
  (table) => {
    const keys = uniqueKeysOf(table);
    expect(keys).not.toEqual([]);
    expect(keys.filter((columns) => !columns.includes(COLUMN))).toEqual([]);
  },
);

test.each(CHANGED)('a unique key of %s lacks the distribution column, as the plan says', (table) => {
  expect(uniqueKeysOf(table).some((columns) => !columns.includes(COLUMN))).toBe(true);
});

describe('a statement on the way of money', () => {
  test.each(MONEY.map((statement) => [statement.name, statement] as const))(
    '%s finds each distributed table by its distribution column',
    (_, statement) => {
      expect(unlocated(statement)).toEqual([]);
    },
  );

  test.each(MONEY.map((statement) => [statement.name, statement] as const))(
    '%s inserts no row without it, and sees conflicts within a shard',
    (_, { text }) => {
      const columns = [...text.matchAll(/(?:INSERT INTO \w+(?: AS \w+)?|ON CONFLICT) \(([^)]*)\)/g)];
      for (const [, list = ''] of columns) {
        expect(list.split(',').map((column) => column.trim())).toContain(COLUMN);
      }
    },
  );

  test('that finds rows by another column is noticed', () => {
    expect(unlocated(wallet.LAST_BALANCE)).toEqual(['transactions t.']);
  });
});
