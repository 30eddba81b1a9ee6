import pg from 'pg';
import { beforeAll } from 'vitest';
import { type Statement, valuesOf } from '../../src/database/statement.js';
import { useDatabase } from './database.js';

/** A node of a plan from EXPLAIN (FORMAT json). */
export interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  Plans?: PlanNode[];
}

/** With ANALYZE and BUFFERS. */
export interface ExecutedNode extends PlanNode {
  'Total Cost': number;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: ExecutedNode[];
}

/** The result of EXPLAIN. */
export interface Explained<Node extends PlanNode> {
  'QUERY PLAN': [{ Plan: Node }];
}

/** The plan's nodes, the outermost first. */
export function nodesOf<Node extends PlanNode>([row]: readonly Explained<Node>[]): Node[] {
  const withThoseBelow = (node: Node): Node[] => [
    node,
    ...((node.Plans ?? []) as Node[]).flatMap(withThoseBelow),
  ];
  return withThoseBelow(row!['QUERY PLAN'][0].Plan);
}

/** The nodes that read the tables, by way of a bitmap, too. A row that a bitmap finds is in two of them. */
export function nodesOn(nodes: readonly ExecutedNode[], tables: ReadonlySet<string>): ExecutedNode[] {
  return nodes.filter(
    (node) => tables.has(node['Relation Name'] ?? '') || node['Node Type'] === 'Bitmap Index Scan',
  );
}

/** The nodes that read any table, except by way of a bitmap. */
export function nodesOnTables(nodes: readonly ExecutedNode[]): ExecutedNode[] {
  return nodes.filter((node) => node['Relation Name'] !== undefined);
}

/** The rows that the nodes read, whether they returned them or not. */
export function rowsTouched(nodes: readonly ExecutedNode[]): number {
  return nodes
    .map((node) => {
      const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
      return (node['Actual Rows'] + removed) * node['Actual Loops'];
    })
    .reduce((sum, rows) => sum + rows, 0);
}

const EXPLAIN = 'EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT json)';

/** Executes statements and returns their plans. */
export class Planner {
  private constructor(
    private readonly client: pg.Client,
    private readonly forAnyValues: pg.Client,
  ) {}

  static async open(url: string): Promise<Planner> {
    const client = new pg.Client({ connectionString: url });
    const options = '-c plan_cache_mode=force_generic_plan';
    const planner = new Planner(client, new pg.Client({ connectionString: url, options }));
    await Promise.all([planner.client.connect(), planner.forAnyValues.connect()]);
    return planner;
  }

  /** The nodes of the plan for the values and, if the statement has a name, those of the plan for any values. */
  async plansOf(statement: Statement, values: object): Promise<ExecutedNode[][]> {
    const ordered = valuesOf(statement, values);
    const plans = [await explained(this.client, `${EXPLAIN} ${statement.text}`, ordered)];
    if (statement.name === '') return plans;
    await this.forAnyValues.query(`PREPARE statement AS ${statement.text}`);
    const literals = ordered.length === 0 ? '' : `(${ordered.map(literal).join(', ')})`;
    plans.push(await explained(this.forAnyValues, `${EXPLAIN} EXECUTE statement ${literals}`));
    await this.forAnyValues.query('DEALLOCATE statement');
    return plans;
  }

  async close(): Promise<void> {
    await Promise.all([this.client.end(), this.forAnyValues.end()]);
  }
}

async function explained(client: pg.Client, text: string, values: unknown[] = []): Promise<ExecutedNode[]> {
  return nodesOf((await client.query<Explained<ExecutedNode>>(text, values)).rows);
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (Array.isArray(value))
    return pg.escapeLiteral(`{${value.map((item) => JSON.stringify(item)).join(',')}}`);
  return pg.escapeLiteral(value instanceof Date ? value.toISOString() : String(value));
}

/** A database to be filled for tests of plans. */
export type PlanDatabase = ReturnType<typeof useDatabase> & { planner: Planner };

/** The database of a test file or of a `describe`: it is created before the tests and dropped after them. */
export function usePlanDatabase(): PlanDatabase {
  const database = useDatabase() as PlanDatabase;
  beforeAll(async () => {
    database.planner = await Planner.open(database.url);
    return () => database.planner.close();
  });
  return database;
}
