/** A profile of V8: a tree of calls, and the node of each sample. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

/** A function that was called through one particular chain of callers. */
export interface Frame {
  readonly name: string;
  /** The owner of the code: `croupier`, `node`, a package, or a name in brackets for time outside of code. */
  readonly owner: string;
  readonly place: string;
  /** Microseconds including its callees, and its self time. */
  us: number;
  selfUs: number;
  readonly children: Map<string, Frame>;
}

const IDLE = '(idle)';

/** The samples as one tree: calls of a function through the same callers are one frame; idle time is left out. */
export function foldSamples({ nodes, samples, timeDeltas }: CpuProfile): Frame {
  const times = new Map<number, number>();
  // A sample counts for the time until the next one.
  samples.forEach((id, index) => times.set(id, (times.get(id) ?? 0) + (timeDeltas[index + 1] ?? 0)));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const root = frameOf('all', '(root)', '');
  const fold = (id: number, parent: Frame): number => {
    const { callFrame, children = [] } = byId.get(id)!;
    if (callFrame.functionName === IDLE) return 0;
    const frame = id === nodes[0]!.id ? root : childOf(parent, callFrame);
    const own = times.get(id) ?? 0;
    const all = children.reduce((sum, child) => sum + fold(child, frame), own);
    frame.selfUs += own;
    frame.us += all;
    return all;
  };
  fold(nodes[0]!.id, root);
  return root;
}

/** Self time of each owner's code, in microseconds, largest first; less than 0.1 % of the total is left out. */
export function selfTimes(root: Frame): (readonly [owner: string, us: number])[] {
  const times = new Map<string, number>();
  const count = (frame: Frame): void => {
    times.set(frame.owner, (times.get(frame.owner) ?? 0) + frame.selfUs);
    for (const child of frame.children.values()) count(child);
  };
  count(root);
  return [...times].filter(([, us]) => us >= root.us / 1000).sort(([, a], [, b]) => b - a);
}

function childOf(parent: Frame, { functionName, url, lineNumber }: CpuProfile['nodes'][number]['callFrame']) {
  const key = `${functionName} ${url}:${lineNumber}`;
  const known = parent.children.get(key);
  if (known) return known;
  const owner = ownerOf(functionName, url);
  const place = url === '' ? '' : `${url.replace(/^.*\/(?=node_modules\/|dist\/)/, '')}:${lineNumber + 1}`;
  const frame = frameOf(functionName || '(anonymous)', owner, place);
  parent.children.set(key, frame);
  return frame;
}

function frameOf(name: string, owner: string, place: string): Frame {
  return { name, owner, place, us: 0, selfUs: 0, children: new Map() };
}

function ownerOf(functionName: string, url: string): string {
  if (functionName.startsWith('(')) return functionName;
  const inside = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  if (inside !== undefined) return inside;
  // Native functions have no address; those that JavaScript calls belong to Node or V8.
  if (url === '' || url.startsWith('node:')) return 'node';
  return url.includes('/dist/') ? 'croupier' : 'others';
}
