import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { History } from './load/history.js';
import {
  type Fault,
  type FaultKind,
  SEQUENCES,
  type Sequence,
  type Plan,
  type PlannedFault,
} from './plan.js';
import type { Readers } from './load/readers.js';
import { until } from './processes/child.js';
import { type Name, NAMES, type Place } from './processes/names.js';
import type { World } from './world.js';

/** How long calls are held back before an instance is killed or suspended, in milliseconds. */
const BEFORE_CALL_MS = 400;

/** Interval at which a planned fault checks whether its time has come, in milliseconds. */
const WAITING_MS = 250;

/** Longest time that a fault waits for a restarted instance to be ready, in seconds. */
const READY_SECONDS = 45;
/** Longest time that a fail-over waits for statements under way, in milliseconds. */
const UNDER_WAY_MS = 10_000;
/** Longest time that a scripted fault of a name is extended until a connection or a look-up notices it, in seconds. */
const NOTICED_SECONDS = 15;
/** Longest time that a scripted fault waits for every instance to be ready, in seconds. */
const ALL_READY_SECONDS = 20;

/** Faults of a script that begin only when every instance is ready. */
const NEEDS_ALL_READY: readonly FaultKind[] = ['suspend', 'kill-before-call', 'redis-kill', 'fail-over'];

type SettingsFault = Extract<Fault, { readonly kind: 'database-settings' }>;

/** Injects the faults of a plan, all its sequences at the same time. */
export class Faults {
  /** Number of fail-overs that began while statements were under way. */
  failOversDuringCommit = 0;
  /**
   * Number of connections that were opened while the database had other settings. The service refuses one with another
   * `session_replication_role`, so it works with other settings only if this one is not among them.
   */
  readonly connectionsWithOtherSettings = { statable: 0, replicationRole: 0 };
  private stopped = false;
  private underWay = 0;
  private pausedSince: number | undefined;
  /** The length of all pauses that have ended. */
  private pausedMs = 0;

  constructor(
    private readonly world: World,
    private readonly plan: Plan,
    private readonly history: History,
    private readonly readers: Readers,
  ) {}

  /** Resolves when all faults of the plan have ended, or, after `stop`, those under way. */
  async run(): Promise<void> {
    const began = performance.now();
    const sequences = Object.keys(SEQUENCES) as Sequence[];
    await Promise.all(sequences.map((sequence) => this.follow(this.plan.faults[sequence], began)));
  }

  stop(): void {
    this.stopped = true;
  }

  /**
   * Begins no fault until `goOn`; the later faults of the plan are delayed by the pause. Waits until those under way have
   * ended, but no longer than this.
   */
  async pause(patienceMs: number): Promise<void> {
    this.pausedSince = performance.now();
    const late = performance.now() + patienceMs;
    while (this.underWay > 0 && performance.now() < late) await sleep(WAITING_MS);
  }

  goOn(): void {
    if (this.pausedSince !== undefined) this.pausedMs += performance.now() - this.pausedSince;
    this.pausedSince = undefined;
  }

  /** Ends the effects of all faults, and waits until every instance is ready. */
  async heal(): Promise<void> {
    for (const link of this.world.links()) link.heal();
    for (const name of NAMES) this.world.lead(name, 'home');
    this.readers.heal();
    this.world.redis?.resume();
    for (const instance of this.world.instances) instance.resume();
    await this.recover();
  }

  /** Starts the instances that have ended, and waits until every instance is ready. Cuts no connection. */
  async recover(): Promise<void> {
    for (const instance of this.world.instances) if (!instance.running) instance.start();
    const ready = this.world.instances.map(({ number }) =>
      until(`instance ${number} is ready again`, 60, () => this.world.ready(number)),
    );
    await Promise.all(ready);
  }

  private async follow(faults: readonly PlannedFault[], began: number): Promise<void> {
    for (const { atMs, fault } of faults) {
      const leftMs = () => began + this.pausedMs + atMs - performance.now();
      while (!this.stopped && (this.pausedSince !== undefined || leftMs() > 0)) {
        await sleep(leftMs() > 0 ? Math.min(WAITING_MS, leftMs()) : WAITING_MS);
      }
      if (this.stopped) return;
      this.underWay += 1;
      if (this.plan.scripted && NEEDS_ALL_READY.includes(fault.kind)) await this.allReady();
      const from = Date.now();
      await this.inject(fault).finally(() => (this.underWay -= 1));
      this.history.fault(fault, from, Date.now());
    }
  }

  /** Waits until every instance is ready, or until `ALL_READY_SECONDS` have passed. */
  private async allReady(): Promise<void> {
    const ready = this.world.instances.map(({ number }) =>
      until('ready', ALL_READY_SECONDS, () => this.world.ready(number)),
    );
    await Promise.allSettled(ready);
  }

  private async inject(fault: Fault): Promise<void> {
    const { world } = this;
    switch (fault.kind) {
      case 'kill':
        return this.kill(fault.instances, fault.downMs);
      case 'kill-before-call': {
        const kill = (number: number) => world.instances[number]!.kill();
        await this.whileCallsWait(() => Promise.all(fault.instances.map(kill)));
        return this.kill(fault.instances, fault.downMs);
      }
      case 'suspend':
        if (fault.duringCalls) await this.whileCallsWait(async () => this.suspend(fault.instances));
        else this.suspend(fault.instances);
        await sleep(fault.forMs);
        for (const number of fault.instances) world.instances[number]!.resume();
        return;
      case 'rolling-restart':
        for (const instance of world.instances) {
          await instance.terminate();
          instance.start();
          await this.readyAgain(instance.number);
        }
        return;
      case 'database-restart':
        return world.postgres!.endAndStart('restart');
      case 'database-crash':
        return world.postgres!.endAndStart('crash');
      case 'database-kill':
        return world.postgres ? world.postgres.endAndStart('kill') : this.killEmbeddedDatabase();
      case 'fail-over': {
        if (await this.statementsUnderWay()) this.failOversDuringCommit += 1;
        await world.postgres!.failOver();
        return world.postgres!.addReplica();
      }
      case 'database-settings':
        return this.withOtherSettings(fault);
      case 'redis-kill':
      case 'redis-restart':
        await world.redis!.end(fault.kind === 'redis-kill' ? 'SIGKILL' : 'SIGTERM');
        await sleep(fault.downMs);
        return world.redis!.launch();
      case 'redis-stall':
        world.redis!.suspend();
        await sleep(fault.forMs);
        return world.redis!.resume();
      case 'cut': {
        const link = world.link(fault.link, fault.instance);
        if (fault.forMs === 0) return link.cut();
        const end = link.refuse();
        await sleep(fault.forMs);
        return end();
      }
      case 'hold-up': {
        const link = world.link(fault.link, fault.instance);
        const end = link.stall();
        await sleep(fault.forMs);
        return end();
      }
      case 'name-moves':
        return this.whileNameLeads(fault.name, 'moved', fault.forMs);
      case 'name-misleads':
        return this.whileNameLeads(fault.name, 'other', fault.forMs);
      case 'name-lost':
        return this.whileNameLeads(fault.name, undefined, fault.forMs);
      case 'readers-leave':
        return this.readers.leave(fault.instance, fault.forMs);
      case 'reader-stalls':
        return this.readers.stall(fault.instance, fault.forMs);
    }
  }

  /** Does the work while calls are held back, so that claims are committed whose calls have not reached the wallet. */
  private async whileCallsWait(work: () => Promise<unknown>): Promise<void> {
    const end = this.world.link('wallet', 0).stall();
    await sleep(BEFORE_CALL_MS);
    await work();
    end();
  }

  /** The connections that are opened meanwhile are not cut at the end: they must be as good as all others. */
  private async withOtherSettings({ scope, settings, forMs }: SettingsFault): Promise<void> {
    const postgres = this.world.postgres!;
    await postgres.changeSettings(scope, settings);
    const links = [...this.world.linksTo('database', 'home'), ...this.world.linksTo('database', 'moved')];
    const relayed = () => links.reduce((sum, link) => sum + link.relayed, 0);
    const before = relayed();
    for (const link of links) link.cut();
    await sleep(forMs);
    await postgres.resetSettings(scope);
    const role = settings.includes('session_replication_role');
    this.connectionsWithOtherSettings[role ? 'replicationRole' : 'statable'] += relayed() - before;
  }

  private async whileNameLeads(name: Name, place: Place | undefined, forMs: number): Promise<void> {
    const effects = () => {
      if (!place) return this.world.names.failures(name);
      return this.world.linksTo(name, place).reduce((sum, { relayed }) => sum + relayed, 0);
    };
    const before = effects();
    this.world.lead(name, place);
    await sleep(forMs);
    // Another fault may have left nothing that opens connections. The script includes each situation.
    const noticed = () => effects() > before;
    if (this.plan.scripted) await until('noticed', NOTICED_SECONDS, noticed).catch(() => undefined);
    this.world.lead(name, 'home');
  }

  private suspend(instances: readonly number[]): void {
    for (const number of instances) this.world.instances[number]!.suspend();
  }

  private async kill(instances: readonly number[], downMs: number): Promise<void> {
    const killed = instances.map((number) => this.world.instances[number]!);
    await Promise.all(killed.map((instance) => instance.kill()));
    await sleep(downMs);
    // A parallel fault may have started it again.
    for (const instance of killed) if (!instance.running) instance.start();
    await Promise.all(killed.map(({ number }) => this.readyAgain(number)));
  }

  /**
   * Waits until statements are under way.
   * @returns false if there were none in time
   */
  private async statementsUnderWay(): Promise<boolean> {
    const late = performance.now() + UNDER_WAY_MS;
    while (this.world.statementsUnderWay === 0) {
      if (performance.now() > late) return false;
      await sleep(1);
    }
    return true;
  }

  /**
   * Waits until an instance is ready, and starts it again whenever it ends, as an orchestrator does. Gives up after a
   * while, because another fault may have stopped a part that the instance needs.
   */
  private async readyAgain(number: number): Promise<void> {
    const instance = this.world.instances[number]!;
    const ready = () => {
      if (!instance.running) instance.start();
      return this.world.ready(number);
    };
    await until('it is ready', READY_SECONDS, ready).catch(() => undefined);
  }

  private async killEmbeddedDatabase(): Promise<void> {
    const file = join(this.world.folder, 'data/postgresql/data/postmaster.pid');
    const pid = Number.parseInt(await readFile(file, 'utf8').catch(() => ''), 10);
    if (
      pid > 1 &&
      execFileSync('ps', ['-o', 'comm=', '-p', String(pid)])
        .toString()
        .includes('postgres')
    ) {
      process.kill(pid, 'SIGKILL');
    }
    await this.readyAgain(0);
  }
}
