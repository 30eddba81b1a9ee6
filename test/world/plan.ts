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
