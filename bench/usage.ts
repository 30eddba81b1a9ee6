import { readdir, readFile } from 'node:fs/promises';

/** CPU usage of a process and its children at one moment, in nanoseconds. */
export interface Usage {
  /** The CPU time of each living process, as the scheduler counts it for the threads. */
  readonly alive: ReadonlyMap<number, number>;
  /** The CPU time of all ended children, as reported to their parent, with a resolution of 10 milliseconds. */
  readonly ended: number;
}

/**
 * The usage of a process and its children. A PostgreSQL server has one process for each connection, all children of the
 * postmaster.
 */
export async function usageOf(pid: number): Promise<Usage> {
  const ended = await cpuOfEndedChildren(pid);
  const family = [pid, ...(await childrenOf(pid))];
  const times = family.map(async (each) => [each, await cpuOfProcess(each)] as const);
  const alive = new Map(await Promise.all(times));
  // If a process ended during the reading, its time may be counted twice or not at all, so the reading is repeated.
  return ended === (await cpuOfEndedChildren(pid)) ? { alive, ended } : usageOf(pid);
}

/**
 * CPU used between two moments, in nanoseconds. For a process that ended meanwhile it is the time reported to its
 * parent, minus its earlier usage.
 */
export function usedBetween(before: Usage, after: Usage): number {
  const sum = ({ alive }: Usage) => [...alive.values()].reduce((total, time) => total + time, 0);
  return sum(after) - sum(before) + (after.ended - before.ended);
}

async function cpuOfProcess(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const times = threads.map(async (thread) => {
    const stat = await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0');
    return Number(stat.split(' ')[0]);
  });
  return (await Promise.all(times)).reduce((sum, time) => sum + time, 0);
}

/** A tick of /proc: USER_HZ is 100 on every Linux that Node runs on. */
const NANOSECONDS_PER_TICK = 10_000_000;

async function cpuOfEndedChildren(pid: number): Promise<number> {
  const fields = await statOf(pid);
  return (Number(fields[13]) + Number(fields[14])) * NANOSECONDS_PER_TICK;
}

async function childrenOf(pid: number): Promise<number[]> {
  const all = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry)).map(Number);
  const parents = await Promise.all(all.map(async (each) => Number((await statOf(each))[1])));
  return all.filter((_, index) => parents[index] === pid);
}

/** The fields after the process name, which is in brackets and may contain any character. */
async function statOf(pid: number): Promise<string[]> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** Resident memory of a process in bytes. */
export async function memoryOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
}
