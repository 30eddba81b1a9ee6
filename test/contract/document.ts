import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Reply } from '../world/world.js';

const CONTRACT = readFileSync(join(import.meta.dirname, '../../docs/contract.md'), 'utf8');

export interface ExecutedTable {
  /** The number of the section that it is in. */
  readonly section: string;
  readonly heading: string[];
  readonly rows: string[][];
}

/** The tables that docs/contract.md marks with `<!-- executed: name -->`. */
export function executedTables(name: string): ExecutedTable[] {
  const [before = '', ...marked] = CONTRACT.split(`<!-- executed: ${name} -->`);
  if (marked.length === 0) throw new Error(`docs/contract.md marks no table "${name}"`);
  let read = before;
  return marked.map((text) => {
    const section = [...read.matchAll(/^## (\d+)\./gm)].at(-1)?.[1] ?? '';
    read += text;
    const [table = ''] = text.trimStart().split('\n\n', 1);
    const [heading = [], , ...rows] = table.split('\n').map(cells);
    return { section, heading, rows };
  });
}

/** The cells of the rows of an executed table, without the heading. */
export function executedTable(name: string): string[][] {
  return executedTables(name).flatMap(({ rows }) => rows);
}

/** The text of a section, by its number. */
export function sectionOf(section: string): string {
  const found = CONTRACT.split(/^(?=## )/m).find((text) => text.startsWith(`## ${section}.`));
  if (found === undefined) throw new Error(`docs/contract.md has no section ${section}`);
  return found;
}

/** The names of all executed tables. */
export const EXECUTED = [...CONTRACT.matchAll(/<!-- executed: (\S+) -->/g)].map(([, name]) => name!);

/**
 * The rows of an executed table with the scenario of each; a row without a scenario is a failing test, and vice versa.
 * @param columns the number of leading columns whose cells, joined by ` | `, name a scenario
 */
export function documentedRows<T>(
  name: string,
  scenarios: Record<string, T>,
  columns = 1,
): { row: string[]; scenario: T }[] {
  const rows = executedTable(name);
  const keyOf = (row: string[]) => row.slice(0, columns).join(' | ');
  const documented = rows.map(keyOf);
  test('has a scenario for every row', () => {
    expect(Object.keys(scenarios).sort()).toEqual([...documented].sort());
  });
  return rows.map((row) => ({ row, scenario: scenarios[keyOf(row)] as T }));
}

function cells(row: string): string[] {
  return row
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());
}

/** Compares a reply with the cell of a table that describes it. */
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

/** Decline reasons of the operator, which the tables leave out. */
const OPERATORS_OWN = new Set<unknown>(['INSUFFICIENT_FUNDS']);
