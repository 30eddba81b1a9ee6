import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { type Trace, traceIn } from './trace.js';

const run = promisify(execFile);

/** Memory of one search, in MiB. At most two run at a time, so they take at most 4 GiB. */
const MEMORY_MIB = 2_000;
/** Longest path of a depth-first search, in steps. A search that reaches it is incomplete, and fails. */
const MAX_DEPTH = 1_000_000;
/** Longest output of a tool that is kept, in bytes. A trace takes a few kilobytes. */
const MAX_OUTPUT = 64 * 1024 * 1024;
const MODEL = join(import.meta.dirname, '../../protocol.pml');

/** How the states are searched. Breadth first finds a shortest trace, but cannot find cycles. */
export type Search = 'invariants' | 'shortest-trace' | 'liveness';

const COMPILED_FOR: Readonly<Record<Search, readonly string[]>> = {
  invariants: ['-O2', '-DSAFETY'],
  // Such a search is over in a second. Optimising it would take longer.
  'shortest-trace': ['-O0', '-DSAFETY', '-DBFS'],
  liveness: ['-O2'],
};
const SEARCHES: Readonly<Record<Search, readonly string[]>> = {
  invariants: [],
  'shortest-trace': [],
  // Acceptance cycles under weak fairness: every process that can always take a step takes one in the end.
  liveness: ['-a', '-f'],
};

export interface Explored {
  readonly states: number;
  readonly transitions: number;
  /** The longest path of the search, in steps. */
  readonly depth: number;
  readonly memoryMiB: number;
  readonly seconds: number;
  /** What violates a property. */
  readonly trace: Trace | undefined;
}

/** The tools that are not installed. */
export async function missingTools(): Promise<string[]> {
  const missing: string[] = [];
  for (const [tool, version] of [
    ['spin', '-V'],
    ['gcc', '--version'],
  ] as const) {
    await run(tool, [version]).catch(() => missing.push(tool));
  }
  return missing;
}

/**
 * Explores the model completely, or until a property is violated.
 * @param macros the scope, and the planted bug, as options of the preprocessor
 * @param signal ends the exploration, which then rejects
 * @throws Error if the model does not compile, or the search is incomplete
 */
export async function explore(
  macros: readonly string[],
  search: Search,
  signal: AbortSignal,
): Promise<Explored> {
  const cwd = await mkdtemp(join(tmpdir(), 'croupier-model-'));
  try {
    const began = performance.now();
    await run('spin', ['-a', ...macros, MODEL], { cwd, signal });
    const compiled = [...COMPILED_FOR[search], `-DMEMLIM=${MEMORY_MIB}`, '-o', 'pan', 'pan.c'];
    await run('gcc', ['-w', ...compiled], { cwd, signal });
    const output = await outputOf(join(cwd, 'pan'), [...SEARCHES[search], `-m${MAX_DEPTH}`], { cwd, signal });
    const violated = numberIn(output, /errors: (\d+)/) > 0;
    if (!violated) requireComplete(output);
    return {
      states: numberIn(output, /^\s*([\d.e+]+) states, stored/m),
      transitions: numberIn(output, /^\s*([\d.e+]+) transitions/m),
      depth: numberIn(output, /depth reached (\d+)/),
      memoryMiB: numberIn(output, /^\s*([\d.]+)\s+total actual memory usage/m),
      seconds: (performance.now() - began) / 1000,
      trace: violated ? await replay(macros, { cwd, signal }) : undefined,
    };
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

interface Place {
  readonly cwd: string;
  readonly signal: AbortSignal;
}

/** What a search prints. Its exit status says less: it is 0 after a violation, too. */
async function outputOf(program: string, args: readonly string[], place: Place): Promise<string> {
  const child = spawn(program, args, { ...place, stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  const [output] = await Promise.all([text(child.stdout), closed]);
  return output;
}

function requireComplete(output: string): void {
  const incomplete =
    /max search depth too small|Search not completed|out of memory|reached -DMEMLIM|aborting/i;
  if (!incomplete.test(output)) return;
  throw new Error(`the search is incomplete:\n${output}`);
}

function numberIn(output: string, pattern: RegExp): number {
  const found = pattern.exec(output)?.[1];
  if (found === undefined) throw new Error(`the search printed no result:\n${output}`);
  return Number(found);
}

/** Lets spin follow the trail of the search, and print what the model says about each step. */
async function replay(macros: readonly string[], place: Place): Promise<Trace> {
  const trail = join(place.cwd, `${basename(MODEL)}.trail`);
  const options = ['-k', trail, '-DTRACE', ...macros, MODEL];
  const { stdout } = await run('spin', options, { ...place, maxBuffer: MAX_OUTPUT });
  return traceIn(stdout);
}
