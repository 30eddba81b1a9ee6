import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Contestant, Name } from './contestants.js';
import { Load, percentile, type Run, Stock } from './load.js';
import { tidy } from './postgres.js';
import { needsBets, prepareRequest, ROUND_LENGTH, type Workload, WORKLOADS } from './requests.js';
import { memoryOf, usageOf, usedBetween } from './usage.js';

const SLICE_SECONDS = 0.8;
/** An open loop has few requests per second, so it needs more rounds and longer slices. */
const PACED_SECONDS = 1.5;
const PACED_ROUNDS = 2;
/** The warm-up of each slice, for connections and caches that went cold during the other slices. */
const LEAD_IN_SECONDS = 0.15;
/**
 * Warm-up of each workload: with concurrent requests, and with single ones, which take another path through the code.
 */
const WARM_UP_SECONDS = { concurrent: 1, single: 0.5 };
const PACED_CONNECTIONS = 256;
/** Assumed requests per second before the first measurement. */
const UNSEEN_PER_SECOND = 3_000;
/**
 * Factor by which a contestant may be faster than measured before. Beyond it, a slice has too few prepared requests and
 * ends early.
 */
const HEADROOM = 1.8;

setFlagsFromString('--expose-gc');
/** Collects the load generator's garbage; otherwise this would happen during a slice and delay the arrivals. */
const collectGarbage = runInNewContext('gc') as () => void;

/** The figures of one contestant in one case, over all its slices. */
export interface Measurement {
  /** All answered requests; p99.9 means little with fewer than 10,000. */
  readonly requests: number;
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  /** CPU per request, in microseconds. */
  readonly serverCpu: number;
  readonly postgresCpu: number;
  /** Resident memory of the server after the case. */
  readonly memoryMiB: number;
  /**
   * Requests of an open loop that were never sent, because earlier ones were not answered: the server is overloaded.
   */
  readonly unserved: number;
}

/** A contestant's figures relative to the reference's in the neighbouring slices. */
export interface Ratio {
  readonly throughput: number;
  /** Of the server and PostgreSQL together. */
  readonly cpu: number;
  readonly p50: number;
  /** The p50 minus the reference's, in milliseconds. */
  readonly p50Above: number;
}

export interface Case {
  readonly workload: Workload;
  /** Connections of a closed loop. */
  readonly connections?: number;
  /** Arrivals in a second of an open loop. */
  readonly pace?: number;
  readonly of: readonly Measured[];
}

/** One contestant in one case. */
export interface Measured extends Measurement {
  readonly name: Name;
  readonly ratio: Ratio;
}

export interface Slice {
  readonly run: Run;
  /** Nanoseconds. */
  readonly serverCpu: number;
  readonly postgresCpu: number;
}

export interface Plan {
  readonly contestants: readonly Contestant[];
  /** The contestant with which all are compared. */
  readonly reference: Name;
  readonly postgresPid: number;
  /** Rounds of each closed loop: one round is a slice for each contestant, and another in the opposite order. */
  readonly rounds: number;
  /** After this time no case gets another round, by performance.now(). */
  readonly until: number;
}

/** Measures the contestants, slice by slice. */
export class Measuring {
  private slices = 0;
  /** The highest measured requests per second of a contestant in a workload. */
  private readonly fastest = new Map<string, number>();

  private readonly contestants: readonly Contestant[];

  constructor(private readonly plan: Plan) {
    this.contestants = plan.contestants;
  }

  /** Runs until every statement is planned, every connection is open and the code is compiled. */
  async warmUp(): Promise<void> {
    for (const contestant of this.contestants) {
      for (const workload of WORKLOADS) {
        await this.closedSlice(contestant, workload, 32, WARM_UP_SECONDS.concurrent);
        await this.closedSlice(contestant, workload, 1, WARM_UP_SECONDS.single);
      }
    }
  }

  closed(workload: Workload, connections: number): Promise<Case> {
    return this.case({ workload, connections }, this.plan.rounds, (contestant) =>
      this.closedSlice(contestant, workload, connections, SLICE_SECONDS),
    );
  }

  open(workload: Workload, pace: number): Promise<Case> {
    return this.case({ workload, pace }, this.plan.rounds * PACED_ROUNDS, (contestant) =>
      this.openSlice(contestant, workload, pace),
    );
  }

  private async case(
    what: Pick<Case, 'workload' | 'connections' | 'pace'>,
    rounds: number,
    slice: (contestant: Contestant) => Promise<Slice>,
  ): Promise<Case> {
    for (const contestant of this.contestants) await tidy(contestant.database);
    const slices = new Map<Name, Slice[]>(this.contestants.map(({ name }) => [name, []]));
    for (let round = 0; round < rounds && (round === 0 || performance.now() < this.plan.until); round += 1) {
      // The first and the last contestant of a case change with the round.
      const order = round % 2 === 0 ? this.contestants : this.contestants.toReversed();
      for (const contestant of [...order, ...order.toReversed()]) {
        slices.get(contestant.name)!.push(await slice(contestant));
      }
    }
    const beside = slices.get(this.plan.reference)!;
    const of: Measured[] = [];
    for (const { name, pid } of this.contestants) {
      const own = slices.get(name)!;
      const memoryMiB = (await memoryOf(pid)) / 2 ** 20;
      of.push({ name, ...measurementOf(own), memoryMiB, ratio: ratioOf(own, beside) });
    }
    return { ...what, of };
  }

  private async closedSlice(
    contestant: Contestant,
    workload: Workload,
    connections: number,
    seconds: number,
  ): Promise<Slice> {
    const key = `${contestant.name} ${workload}`;
    const fastest = this.fastest.get(key) ?? 0;
    const count = (fastest * HEADROOM || UNSEEN_PER_SECOND) * (LEAD_IN_SECONDS + seconds) + 2 * connections;
    const stock = await this.stock(contestant, workload, count);
    const slice = await measureSlice(contestant, this.plan.postgresPid, connections, (load, measured) =>
      load.closed(stock, measured ? seconds : LEAD_IN_SECONDS),
    );
    this.fastest.set(key, Math.max(fastest, slice.run.latencies.length / slice.run.seconds));
    return slice;
  }

  private async openSlice(contestant: Contestant, workload: Workload, pace: number): Promise<Slice> {
    const stock = await this.stock(contestant, workload, pace * (LEAD_IN_SECONDS + PACED_SECONDS) + 2);
    return measureSlice(contestant, this.plan.postgresPid, PACED_CONNECTIONS, (load, measured) =>
      load.open(stock, pace, measured ? PACED_SECONDS : LEAD_IN_SECONDS),
    );
  }

  /** At least the given number of requests, in whole rounds, with new ids. */
  private async stock(contestant: Contestant, workload: Workload, count: number): Promise<Stock> {
    this.slices += 1;
    const prefix = `s${this.slices}`;
    const roundLength = workload === 'mixed' ? ROUND_LENGTH : 1;
    const whole = Math.ceil(count / roundLength) * roundLength;
    if (needsBets(workload)) await contestant.seedBets(prefix, whole);
    const requests = Array.from({ length: whole }, (_, n) =>
      prepareRequest(workload, contestant.providerSecret, prefix, n),
    );
    return new Stock(requests, roundLength);
  }
}

/**
 * Measures one slice over connections of its own.
 * @param work runs twice; only the second run is measured
 */
export async function measureSlice(
  { port, pid }: Contestant,
  postgresPid: number,
  connections: number,
  work: (load: Load, measured: boolean) => Promise<Run>,
): Promise<Slice> {
  collectGarbage();
  const load = await Load.open(port, connections);
  const look = async () => ({ server: await usageOf(pid), postgres: await usageOf(postgresPid) });
  try {
    await work(load, false);
    const before = await look();
    const run = await work(load, true);
    const after = await look();
    return {
      run,
      serverCpu: usedBetween(before.server, after.server),
      postgresCpu: usedBetween(before.postgres, after.postgres),
    };
  } finally {
    load.close();
  }
}

const answeredIn = ({ run }: Slice) => run.latencies.length - run.unserved;

export function measurementOf(slices: readonly Slice[]): Omit<Measurement, 'memoryMiB'> {
  const latencies = Float64Array.from(slices.flatMap(({ run }) => [...run.latencies])).sort();
  const total = (value: (slice: Slice) => number) => slices.reduce((sum, slice) => sum + value(slice), 0);
  const requests = total(answeredIn);
  return {
    requests,
    perSecond: requests / total(({ run }) => run.seconds),
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    p999: percentile(latencies, 0.999),
    serverCpu: total(({ serverCpu }) => serverCpu) / requests / 1000,
    postgresCpu: total(({ postgresCpu }) => postgresCpu) / requests / 1000,
    unserved: total(({ run }) => run.unserved),
  };
}

/** The median over neighbouring pairs of slices, which is robust against a stall in one of them. */
export function ratioOf(own: readonly Slice[], reference: readonly Slice[]): Ratio {
  const median = (compare: (own: Slice, reference: Slice) => number) => {
    const compared = own.map((slice, index) => compare(slice, reference[index]!)).sort((a, b) => a - b);
    return (compared[(compared.length - 1) >> 1]! + compared[compared.length >> 1]!) / 2;
  };
  const ratio = (value: (slice: Slice) => number) => median((slice, beside) => value(slice) / value(beside));
  const p50 = ({ run }: Slice) => percentile(run.latencies, 0.5);
  return {
    throughput: ratio((slice) => answeredIn(slice) / slice.run.seconds),
    cpu: ratio((slice) => (slice.serverCpu + slice.postgresCpu) / answeredIn(slice)),
    p50: ratio(p50),
    p50Above: median((slice, beside) => p50(slice) - p50(beside)),
  };
}
