import { type Name, NAMES } from './processes/names.js';
import { Seeded } from './seeded.js';
import { SETTINGS_SCOPES, type SettingName, type SettingsScope, STATABLE } from './settings.js';

/** The kinds of an instance's connections that a fault cuts or stalls, named after the party at the other end. */
export const LINKS = ['client', 'database', 'redis', 'wallet'] as const;
export type LinkKind = (typeof LINKS)[number];

/** A fault. Instances are identified by their number. */
export type Fault =
  | { readonly kind: 'kill'; readonly instances: readonly number[]; readonly downMs: number }
  /** Killed while its calls do not reach the wallet, so that the claim is committed without a call. */
  | { readonly kind: 'kill-before-call'; readonly instances: readonly number[]; readonly downMs: number }
  /** Suspended for longer than a lease, and resumed. */
  | {
      readonly kind: 'suspend';
      readonly instances: readonly number[];
      readonly forMs: number;
      /** Whether calls to wallets are under way, which another instance can take over. */
      readonly duringCalls: boolean;
    }
  /** SIGTERM to each instance in turn. */
  | { readonly kind: 'rolling-restart' }
  | { readonly kind: 'database-restart' }
  | { readonly kind: 'database-crash' }
  | { readonly kind: 'database-kill' }
  | { readonly kind: 'fail-over' }
  /** Settings of new connections get other values, and the open connections are cut. */
  | {
      readonly kind: 'database-settings';
      readonly scope: SettingsScope;
      readonly settings: readonly SettingName[];
      readonly forMs: number;
    }
  | { readonly kind: 'redis-kill'; readonly downMs: number }
  | { readonly kind: 'redis-restart'; readonly downMs: number }
  | { readonly kind: 'redis-stall'; readonly forMs: number }
  | { readonly kind: 'cut'; readonly link: LinkKind; readonly instance: number; readonly forMs: number }
  | { readonly kind: 'hold-up'; readonly link: LinkKind; readonly instance: number; readonly forMs: number }
  /** A party moves to another address, and its name follows. */
  | { readonly kind: 'name-moves'; readonly name: Name; readonly forMs: number }
  /** A wallet's name leads to another party's server, the database's name to the standby. */
  | { readonly kind: 'name-misleads'; readonly name: Name; readonly forMs: number }
  /** A name does not resolve. */
  | { readonly kind: 'name-lost'; readonly name: Name; readonly forMs: number }
  /** Readers of the console disconnect, and return. */
  | { readonly kind: 'readers-leave'; readonly instance: number; readonly forMs: number }
  /** A reader of the console stops reading, with its connection open. */
  | { readonly kind: 'reader-stalls'; readonly instance: number; readonly forMs: number };

export type FaultKind = Fault['kind'];

/** A fault and when it begins, in milliseconds from the start of the load. */
export interface PlannedFault {
  readonly atMs: number;
  readonly fault: Fault;
}

/** Sequences of faults. The faults of a sequence do not overlap; those of different ones may. */
export const SEQUENCES = {
  instances: ['kill', 'kill-before-call', 'suspend', 'rolling-restart'],
  database: ['database-restart', 'database-crash', 'database-kill', 'fail-over', 'database-settings'],
  redis: ['redis-kill', 'redis-restart', 'redis-stall'],
  links: ['cut', 'hold-up'],
  names: ['name-moves', 'name-misleads', 'name-lost'],
  readers: ['readers-leave', 'reader-stalls'],
} as const satisfies Record<string, readonly FaultKind[]>;
export type Sequence = keyof typeof SEQUENCES;

export interface Plan {
  readonly seed: number;
  /** Whether the plan is the script of `scriptedPlan`, whose faults wait for the situation that they need. */
  readonly scripted: boolean;
  /** Mean time between two faults of each kind, in seconds. */
  readonly everySeconds: Readonly<Partial<Record<FaultKind, number>>>;
  /** Probabilities that a wallet or webhook misbehaves in a call, 0 … 1. */
  readonly misbehave: number;
  readonly decline: number;
  /** Offset of each instance's clock, in seconds. */
  readonly clockSeconds: readonly number[];
  /** The number of readers that follow the console's stream at each instance. */
  readonly readers: number;
  readonly faults: Readonly<Record<Sequence, readonly PlannedFault[]>>;
  /**
   * When the load and the faults pause, so that the overviews can be compared with the database: in milliseconds from the
   * start of the load, without earlier pauses.
   */
  readonly quietAtMs: readonly number[];
}

/** The parts of a run, as chosen by its options. */
export interface Parts {
  readonly instances: number;
  /** Whether there is a PostgreSQL with a replica instead of the embedded one. */
  readonly database: boolean;
  readonly redis: boolean;
}

/** Ranges of the mean time between two faults of each kind, in seconds. */
const EVERY: Readonly<Record<FaultKind, readonly [least: number, most: number]>> = {
  kill: [20, 60],
  'kill-before-call': [40, 100],
  suspend: [25, 60],
  'rolling-restart': [60, 150],
  'database-restart': [80, 200],
  'database-crash': [80, 200],
  'database-kill': [80, 200],
  'fail-over': [90, 180],
  'redis-kill': [50, 150],
  'redis-restart': [50, 150],
  'redis-stall': [40, 120],
  cut: [6, 30],
  'hold-up': [10, 40],
  'database-settings': [50, 120],
  'name-moves': [40, 100],
  'name-misleads': [60, 140],
  'name-lost': [60, 140],
  'readers-leave': [10, 30],
  'reader-stalls': [30, 90],
};

/**
 * How long an instance is suspended during calls, in milliseconds. Longer than the providers' time-out (8 s), so that they
 * repeat their requests at another instance, which takes the transactions over. When the suspended instance is resumed,
 * it can no longer settle them.
 */
const SUSPENDED_DURING_CALLS_MS = 11_000;

/** Time between two quiet points, in milliseconds. */
const QUIET_EVERY_MS = 120_000;

/** Delay of the first faults, so that the load can begin. */
const CALM_MS = 5_000;

/**
 * The plan that a seed determines for a run of this length.
 * @param faultRate factor on the rates of all faults
 */
export function planOf(seed: number, minutes: number, parts: Parts, faultRate = 1): Plan {
  const random = new Seeded(seed);
  const kinds = possible(parts);
  const everySeconds = Object.fromEntries(
    kinds.map((kind) => [kind, Math.round(random.between(EVERY[kind][0], EVERY[kind][1]) / faultRate)]),
  ) as Record<FaultKind, number>;
  const sequence = (of: readonly FaultKind[]) =>
    of
      .filter((kind) => kinds.includes(kind))
      .flatMap((kind) =>
        times(random, everySeconds[kind], minutes).map((atMs, nth) => ({
          atMs,
          fault: draw(random, kind, nth, parts),
        })),
      )
      .sort((one, other) => one.atMs - other.atMs);
  return {
    seed,
    scripted: false,
    everySeconds,
    misbehave: random.pick([0.02, 0.05, 0.1]),
    decline: random.pick([0.01, 0.03]),
    clockSeconds: Array.from({ length: parts.instances }, (_, number) =>
      number === 0 ? 0 : random.below(121) - 60,
    ),
    readers: 2 + random.below(5),
    faults: sequencesOf(sequence),
    // None at the end, where the overviews are compared anyway.
    quietAtMs: Array.from(
      { length: Math.ceil((minutes * 60_000) / QUIET_EVERY_MS) - 1 },
      (_, number) => (number + 1) * QUIET_EVERY_MS,
    ),
  };
}

/** When the script pauses, in milliseconds: readers have stalled and left, and instances and servers were killed. */
const SCRIPT_QUIET_MS = 37_500;

/** A script of less than two minutes that forces each situation that a run must include. */
export function scriptedPlan(seed: number, parts: Parts): Plan {
  const { database } = parts;
  const last = parts.instances - 1;
  const all = Array.from({ length: parts.instances }, (_, number) => number);
  const script: readonly [atSeconds: number, fault: Fault][] = [
    [3, { kind: 'reader-stalls', instance: 0, forMs: 20_000 }],
    [5, suspendDuringCalls(last)],
    [8, { kind: 'redis-kill', downMs: 1500 }],
    [9, { kind: 'name-moves', name: 'wallet', forMs: 3000 }],
    [16, { kind: 'kill-before-call', instances: [0], downMs: 500 }],
    [18, { kind: 'cut', link: 'wallet', instance: 0, forMs: 500 }],
    [21, { kind: 'redis-stall', forMs: 2500 }],
    [24, { kind: 'fail-over' }],
    [26, { kind: 'kill', instances: [last], downMs: 500 }],
    [30, { kind: 'cut', link: 'database', instance: 0, forMs: 0 }],
    [30, { kind: 'readers-leave', instance: last, forMs: 2000 }],
    [31, { kind: 'database-settings', scope: 'role', settings: STATABLE, forMs: 4000 }],
    [33, { kind: 'hold-up', link: 'database', instance: last, forMs: 4500 }],
    [34, { kind: 'name-moves', name: 'database', forMs: 2000 }],
    [38, { kind: 'rolling-restart' }],
    [40, { kind: 'redis-restart', downMs: 500 }],
    [
      41,
      { kind: 'database-settings', scope: 'database', settings: ['session_replication_role'], forMs: 5000 },
    ],
    [42, { kind: 'name-misleads', name: 'wallet', forMs: 2000 }],
    [46, { kind: 'name-lost', name: 'wallet', forMs: 2000 }],
    [48, { kind: 'database-crash' }],
    [51, { kind: 'name-misleads', name: 'database', forMs: 3000 }],
    [52, { kind: 'cut', link: 'client', instance: 0, forMs: 500 }],
    [55, { kind: 'kill', instances: all, downMs: 200 }],
    [56, { kind: 'name-lost', name: 'database', forMs: 2000 }],
    [58, { kind: 'database-kill' }],
    [62, { kind: 'database-restart' }],
    [64, { kind: 'cut', link: 'redis', instance: last, forMs: 1000 }],
    [66, suspendDuringCalls(0)],
  ];
  const kinds = possible(parts);
  const sequence = (of: readonly FaultKind[]) =>
    script
      .filter(([, fault]) => of.includes(fault.kind) && kinds.includes(fault.kind))
      .filter(([, fault]) => database || !('name' in fault) || fault.name !== 'database')
      .map(([atSeconds, fault]) => ({ atMs: atSeconds * 1000, fault }));
  return {
    seed,
    scripted: true,
    everySeconds: {},
    misbehave: 0.06,
    decline: 0.02,
    clockSeconds: all.map((number) => number * 40),
    readers: 3,
    faults: sequencesOf(sequence),
    quietAtMs: [SCRIPT_QUIET_MS],
  };
}

/** The kinds of faults that need a PostgreSQL besides the instance. */
const NEEDS_DATABASE: readonly FaultKind[] = [
  'fail-over',
  'database-restart',
  'database-crash',
  'database-settings',
];

function sequencesOf(
  faultsOf: (kinds: readonly FaultKind[]) => readonly PlannedFault[],
): Record<Sequence, readonly PlannedFault[]> {
  const names = Object.keys(SEQUENCES) as Sequence[];
  return Object.fromEntries(names.map((name) => [name, faultsOf(SEQUENCES[name])])) as Record<
    Sequence,
    readonly PlannedFault[]
  >;
}

function possible({ database, redis, instances }: Parts): readonly FaultKind[] {
  return Object.values(SEQUENCES)
    .flat()
    .filter((kind) => {
      if (kind.startsWith('redis')) return redis;
      if (kind === 'rolling-restart') return instances > 1;
      return database || !NEEDS_DATABASE.includes(kind);
    });
}

function times(random: Seeded, everySeconds: number, minutes: number): number[] {
  const all: number[] = [];
  const next = () => random.between(0.3, 1.7) * everySeconds * 1000;
  // The first one is earlier, so that a short run includes every kind.
  for (let at = CALM_MS + next() * 0.7; at < minutes * 60_000; at += next()) all.push(Math.round(at));
  return all;
}

function suspendDuringCalls(instance: number): Fault {
  return { kind: 'suspend', instances: [instance], forMs: SUSPENDED_DURING_CALLS_MS, duringCalls: true };
}

/** @param nth the number of earlier faults of this kind: what a run must include in two ways is drawn in turn */
function draw(
  random: Seeded,
  kind: FaultKind,
  nth: number,
  { instances: count, redis, database }: Parts,
): Fault {
  const one = random.below(count);
  const downMs = Math.round(random.between(0, 4000));
  const forMs = Math.round(random.between(300, 3000));
  const some = random.chance(0.2) ? Array.from({ length: count }, (_, number) => number) : [one];
  switch (kind) {
    case 'kill':
    case 'kill-before-call':
      return { kind, instances: some, downMs };
    case 'suspend':
      if (nth % 2 === 0) return suspendDuringCalls(one);
      return { kind, instances: [one], forMs: 4000 + 2 * forMs, duringCalls: false };
    case 'redis-kill':
    case 'redis-restart':
      return { kind, downMs };
    case 'redis-stall':
      return { kind, forMs };
    case 'cut':
    case 'hold-up': {
      const links = LINKS.filter((link) => (link !== 'redis' || redis) && (link !== 'database' || database));
      const long = kind === 'hold-up' ? forMs * 2 : random.chance(0.5) ? 0 : forMs;
      return { kind, link: random.pick(links), instance: one, forMs: long };
    }
    case 'database-settings': {
      const drawn = STATABLE.filter(() => random.chance(0.4));
      const others = random.chance(0.3) || drawn.length === 0 ? STATABLE : drawn;
      const settings: readonly SettingName[] =
        nth % 2 === 0 ? others : [...others, 'session_replication_role'];
      return { kind, scope: random.pick(SETTINGS_SCOPES), settings, forMs: 2 * forMs };
    }
    case 'name-moves':
    case 'name-misleads':
    case 'name-lost':
      return { kind, name: database ? NAMES[nth % NAMES.length]! : 'wallet', forMs: 2 * forMs };
    case 'readers-leave':
      return { kind, instance: one, forMs };
    case 'reader-stalls':
      return { kind, instance: one, forMs: 8 * forMs };
    default:
      return { kind };
  }
}
