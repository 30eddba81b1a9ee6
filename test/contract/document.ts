import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Reply } from '../world/world.js';

const CONTRACT = readFileSync(join(import.meta.dirname, '../../docs/contract.md'), 'utf8');

/** The cells of the rows of the table that docs/contract.md marks with `<!-- executed: name -->`, without the heading. */
export function executedTable(name: string): string[][] {
  const [, marked] = CONTRACT.split(`<!-- executed: ${name} -->`);
  if (marked === undefined) throw new Error(`docs/contract.md marks no table "${name}"`);
  const [table] = marked.trimStart().split('\n\n', 1);
  const [, , ...rows] = (table ?? '').split('\n').map(cells);
  return rows;
}

/**
 * The rows of an executed table with the scenario of each; a row without a scenario is a failing test, and vice versa.
 * @param columns the number of the first columns that name a scenario, joined by ` | `
 */
export function documentedRows<T>(
  name: string,
  scenarios: Record<string, T>,
  columns = 1,
): { row: string[]; scenario: T }[] {
  const rows = executedTable(name);
  const keyOf = (row: string[]) => row.slice(0, columns).join(' | ');
  const documented = rows.map(keyOf);
  test(`of which every row has a scenario`, () => {
    expect(Object.keys(scenarios).sort()).toEqual([...documented].sort());
  });
  return rows.map((row) => ({ row, scenario: scenarios[keyOf(row)] as T }));
}

function cells(row: string): string[] {
  return row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}

/** Holds a reply against the cell of a table that describes it. */
export function expectDocumented(reply: Reply, cell: string): void {
  const documented = {
    status: Number(/^\d{3}/.exec(cell)?.[0]),
    named: [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
  };
  expect({ status: reply.status, named: namedBy(reply) }).toEqual(documented);
}

/** What a table's cell says of a reply, beside its status. */
function namedBy({ status, headers, text, json }: Reply): string[] {
  if (headers.get('idempotency-replayed') === 'true') return ['Idempotency-Replayed: true'];
  if (headers.get('content-type')?.startsWith('text/plain')) return [text];
  if (status !== 200) return [String(headers.get('x-error-code'))];
  return ['status', 'declineReason']
    .filter((field) => field in json && !OPERATORS_OWN.has(json[field]))
    .map((field) => String(json[field]));
}

/** Reasons of the operator's, of which the tables say nothing. */
const OPERATORS_OWN = new Set<unknown>(['INSUFFICIENT_FUNDS']);
