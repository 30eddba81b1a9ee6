import { describe, expect, test } from 'vitest';
import { holds, ROLES } from '../../src/admin/role.js';
import { ATTENTION_KINDS, ATTENTION_STATES } from '../../src/attention/attention.js';
import { CATALOGUE } from '../../src/errors/catalogue.js';
import { STATES as GRANT_STATES } from '../../src/free-spins/free-spins.request.js';
import { FLAGS } from '../../src/free-spins/winnings/winnings.response.js';
import { scoreOf, stateOf } from '../../src/health-scores/rules/score.js';
import { FINDINGS } from '../../src/reconciliation/rules/compare.js';
import { STATES as TRANSACTION_STATES } from '../../src/desk/transactions/transaction.admin.request.js';
import { documentedRows, executedTable } from './document.js';

/* Compares the tables that list the values of a type with the code. */

/** The values in a cell, without their code marks. */
const valuesIn = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, value]) => value!);

/** The values in a table's first column, in alphabetical order. */
const firstColumn = (rows: string[][]) => rows.flatMap(([cell]) => valuesIn(cell)).sort();

test.each([
  {
    table: 'next actions of section 2',
    documented: firstColumn(executedTable('next-actions')),
    values: Object.values(CATALOGUE).map(({ nextAction }) => nextAction),
  },
  {
    table: 'states of a transaction of section 3',
    documented: firstColumn(executedTable('transaction-states')),
    values: TRANSACTION_STATES,
  },
  {
    table: 'flags of section 6',
    documented: firstColumn(executedTable('flags')),
    values: FLAGS,
  },
  {
    table: 'findings of section 7',
    documented: firstColumn(executedTable('findings')),
    values: FINDINGS,
  },
  {
    table: 'kinds of attention items of section 9',
    documented: firstColumn(executedTable('attention-kinds')),
    values: ATTENTION_KINDS,
  },
  {
    table: 'states of attention items of section 9',
    documented: firstColumn(executedTable('attention-states')),
    values: ATTENTION_STATES,
  },
])('the table of $table has the values of the code', ({ documented, values }) => {
  expect(documented).toEqual([...new Set<string>(values)].sort());
});

test('section 6, the table of the states of a grant has each state, and each can be reached and left', () => {
  const rows = executedTable('grant-states');
  const moves = rows.map(([from, to]) => ({ from: valuesIn(from), to: valuesIn(to) }));
  const reached = new Set(moves.flatMap(({ to }) => to));
  const left = new Set(moves.filter(({ from, to }) => from[0] !== to[0]).flatMap(({ from }) => from));
  expect([...reached].sort()).toEqual([...GRANT_STATES].sort());
  // CANCELLED is final.
  expect([...left].sort()).toEqual(GRANT_STATES.filter((state) => state !== 'CANCELLED').sort());
});

describe('section 7, the table of roles', () => {
  const rows = executedTable('roles').map(([role, , includes]) => ({ role: valuesIn(role)[0]!, includes }));

  test('lists exactly the roles that the code knows', () => {
    expect(rows.map(({ role }) => role).sort()).toEqual([...ROLES].sort());
  });

  test.each(rows)('$role includes $includes', ({ role, includes }) => {
    const others = ROLES.filter((other) => other !== role);
    const documented = includes === 'all others' ? others : valuesIn(includes);
    expect(others.filter((other) => holds([role], other)).sort()).toEqual([...documented].sort());
  });
});

describe('section 9, the table of health states', () => {
  const window = (succeeded: number) => scoreOf([{ calls: 100, succeeded, timeouts: 0, latency: [100] }]);
  const degraded = window(94);

  // Each situation also meets the conditions of the rows below it, because the first row that applies decides.
  test.each(
    documentedRows<() => string>('health-states', {
      '`paused`': () => stateOf(degraded, { paused: true, breakerOpen: true }),
      '`open`': () => stateOf(degraded, { paused: false, breakerOpen: true }),
      '`degraded`': () => stateOf(degraded, { paused: false, breakerOpen: false }),
      '`ok`': () => stateOf(window(95), { paused: false, breakerOpen: false }),
    }),
  )('$row.0: $row.1', ({ row, scenario }) => {
    expect(`\`${scenario()}\``).toBe(row[0]);
  });
});
