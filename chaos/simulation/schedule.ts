import type { SessionFacts } from '../../src/wallet/rules/facts.js';
import type { TransactionRequest } from '../../src/wallet/rules/facts.js';
import type { MovementRequest } from '../../src/operator-wallet/operator-wallet.js';
import { undecided } from '../model/rows.js';
import { Seeded } from '../seeded.js';
import { type Bug, SimulatedDatabase } from './database.js';
import { LEASE_SECONDS, SimulatedInstance } from './instance.js';
import { Network } from './network.js';
import { SimulatedProvider } from './provider.js';
import { SimulatedTime } from './time.js';
import { WALLET_TIMEOUT_MS } from './wallet-calls.js';
import { SimulatedWallet } from './wallet.js';

const PROVIDER = { id: 'spinwell', lateSettlementSeconds: 0 };
const SESSION: SessionFacts = {
  sessionId: 'session-1',
  operatorId: 'lucky',
  providerId: PROVIDER.id,
  playerRef: 'player-1',
  gameId: 'reels',
  currency: 'EUR',
  mode: 'REAL',
  maxBetMinor: null,
  endedSecondsAgo: null,
  gameActive: true,
  operatorActive: true,
};

/** Time after which no fault begins, in milliseconds. */
const FAULTS_END_MS = 12_000;
/** Time after which everything in transit at the end of the faults has arrived. */
const QUIET_MS = FAULTS_END_MS + 16_000;
/** Longest time after the faults until every transaction is decided. */
const LIVENESS_MS = 90_000;

/**
 * Additional time for each ROLLBACK that the operator DECLINED, in milliseconds: its BET can be undecided again, and is
 * then due a minute later.
 */
const RESOLVER_AGAIN_MS = 75_000;
/**
 * Maximum number of times that all requests are repeated until no outcome changes. A few suffice, because each ROLLBACK
 * can change the outcome at most once.
 */
const PASSES = 8;

/** How often the dangerous situations occurred. */
export interface Coverage {
  takenOver: number;
  fenced: number;
  tombstones: number;
  endedByPlatform: number;
  inFlight: number;
  misdelivered: number;
  killed: number;
  suspended: number;
}

export interface Result {
  readonly violations: readonly string[];
  readonly coverage: Coverage;
}

/** Plays one schedule, which the seed determines. */
export async function playSchedule(seed: number, bug?: Bug): Promise<Result> {
  return new Schedule(seed, bug).play();
}

class Schedule {
  private readonly random: Seeded;
  private readonly time = new SimulatedTime();
  private readonly network: Network;
  private readonly wallet = new SimulatedWallet();
  private readonly database: SimulatedDatabase;
  private readonly instances: readonly SimulatedInstance[];
  private readonly requests: readonly TransactionRequest[];
  private readonly provider: SimulatedProvider;
  private readonly callsUntil = new Map<string, number>();
  private readonly violations: string[] = [];
  private killed = 0;
  private suspended = 0;

  constructor(seed: number, bug: Bug | undefined) {
    const random = new Seeded(seed);
    const { time, wallet } = this;
    const rate = () => random.pick([0, 0, 0.1, 0.3, 0.6]);
    const rates = { wallet: rate(), decline: rate() / 3, database: rate() / 4, client: rate() };
    const network = new Network(time, random, rates, random.pick([1, 10, 100, 1000]));
    const database = new SimulatedDatabase(() => time.now, SESSION, LEASE_SECONDS * 1000, bug);
    const onCall = (request: MovementRequest) => this.judgeCall(request);
    const around = { time, random, network, database, wallet, bug, onCall };
    this.random = random;
    this.network = network;
    this.database = database;
    this.instances = Array.from({ length: 2 }, () => new SimulatedInstance(around));
    this.requests = requestsOf(random);
    this.provider = new SimulatedProvider(time, random, network, this.instances, PROVIDER);
  }

  async play(): Promise<Result> {
    const spreadMs = this.random.pick([0, 20, 1000, 8000]);
    for (const request of this.requests) {
      this.time.after(this.random.between(0, spreadMs), () => this.provider.pursue(request));
    }
    this.planFaults();
    this.time.after(FAULTS_END_MS, () => (this.network.healed = true));
    const late = () => FAULTS_END_MS + LIVENESS_MS + this.declinedRollbacks() * RESOLVER_AGAIN_MS;
    await this.time.run(() => this.time.now > late() || (this.time.now > QUIET_MS && this.quiet()));
    if (!this.quiet()) this.violations.push(`not definite in time: ${this.unfinished()}`);
    else await this.repeatAll();
    this.judgeEnd();
    return { violations: this.violations, coverage: this.coverage() };
  }

  private planFaults(): void {
    const { random, time } = this;
    for (let count = random.below(4); count > 0; count -= 1) {
      time.after(random.between(0, FAULTS_END_MS), () => {
        const instance = random.pick(this.instances);
        if (!instance.running) return;
        if (random.chance(0.5)) {
          this.killed += 1;
          instance.kill(random.between(10, 3000));
        } else {
          this.suspended += 1;
          // From less than the wallet's time-out to three times the lease.
          instance.suspend(random.between(500, 3000 * LEASE_SECONDS));
        }
      });
    }
  }

  /** Whether no request is in flight and every transaction is decided, or a transaction is parked. */
  private quiet(): boolean {
    return this.unsettled().length === 0 && (this.provider.idle || this.anyParked());
  }

  private unsettled(): string[] {
    return [...this.database.rows.values()]
      .filter((row) => undecided(row) && !row.parked && !this.anyParked())
      .map(({ transactionId, state }) => `${transactionId} ${state}`);
  }

  private declinedRollbacks(): number {
    return [...this.database.rows.values()].filter(
      ({ kind, state }) => kind === 'ROLLBACK' && state === 'DECLINED',
    ).length;
  }

  private unfinished(): string {
    const waiting = this.provider.waitingFor.map((what) => `the provider for ${what}`);
    return [...this.unsettled(), ...waiting].join(', ');
  }

  /** If a transaction is parked, those that depend on it also wait for a person. */
  private anyParked(): boolean {
    return [...this.database.rows.values()].some(({ parked }) => parked);
  }

  /** Repeats all requests until no outcome changes. */
  private async repeatAll(): Promise<void> {
    if (this.anyParked()) return;
    for (let pass = 0; pass < PASSES; pass += 1) {
      const before = this.outcomes();
      for (const request of this.requests) this.provider.pursue(request, true);
      const limit = this.time.now + LIVENESS_MS;
      await this.time.run(() => this.provider.idle || this.time.now > limit);
      if (!this.provider.idle) {
        this.violations.push(`no definite answer in the end: ${this.unfinished()}`);
        return;
      }
      if (this.outcomes() === before) return;
    }
    this.violations.push('the round does not come to rest');
  }

  private outcomes(): string {
    return this.requests.map(({ transactionId }) => this.provider.lastOutcome(transactionId)?.status).join();
  }

  /**
   * Checks a call to the wallet: its claim is committed, with a lease that outlives the call. No other call for the
   * transaction is under way, nor one for a ROLLBACK's target, and no ROLLBACK of the transaction is under way.
   * @returns a function to call at the end of the call
   */
  private judgeCall({ transactionId, kind, originalTransactionId }: MovementRequest): () => void {
    const { now } = this.time;
    const row = this.database.rows.get(transactionId);
    const complain = (text: string) => this.violations.push(`the call of ${transactionId}: ${text}`);
    if (row?.state !== 'PENDING') complain('no claim is committed');
    else if ((row.leaseUntil ?? 0) < now + WALLET_TIMEOUT_MS) complain('the lease does not outlive it');
    if (row?.rollbackId) complain('its ROLLBACK is under way');
    for (const id of [transactionId, kind === 'ROLLBACK' ? originalTransactionId : undefined]) {
      if (id !== undefined && (this.callsUntil.get(id) ?? 0) > now) complain(`a call of ${id} is under way`);
    }
    this.callsUntil.set(transactionId, now + WALLET_TIMEOUT_MS);
    return () => this.callsUntil.delete(transactionId);
  }

  private judgeEnd(): void {
    this.violations.push(...this.wallet.violations, ...this.provider.violations);
    if (this.violations.length > 0 || this.anyParked()) return;
    this.judgeAgreement();
    this.judgeRounds();
    this.judgeReversals();
  }

  /** Checks that the provider's last answers, the platform's records and the operator's ledger agree. */
  private judgeAgreement(): void {
    const { ledger } = this.wallet;
    const reversedAtOperator = (id: string) => ledger.isRolledBack(PROVIDER.id, id);
    const standsAtOperator = (id: string) =>
      ledger.find(PROVIDER.id, id)?.status === 'APPROVED' && !reversedAtOperator(id);
    for (const { transactionId, kind, originalTransactionId } of this.requests) {
      const answered = this.provider.lastOutcome(transactionId)?.status;
      const entry = ledger.find(PROVIDER.id, transactionId);
      const row = this.database.rows.get(transactionId);
      const reversed = reversedAtOperator(transactionId);
      // The platform's own verdicts move no money, so they are not in the operator's ledger.
      const verdict = kind === 'ROLLBACK' && !entry;
      const stored = row?.state === 'APPROVED';
      if (stored && originalTransactionId !== undefined && standsAtOperator(originalTransactionId)) {
        this.violations.push(
          `${transactionId} is APPROVED, but ${originalTransactionId} stands at the operator`,
        );
      }
      if ((answered === 'APPROVED') !== stored || (!verdict && stored !== standsAtOperator(transactionId))) {
        this.violations.push(
          `${transactionId}: the provider received ${answered ?? 'nothing'}, the platform stores ` +
            `${row?.state ?? 'nothing'}, the operator has ${entry?.status ?? 'nothing'}${reversed ? ', reversed' : ''}`,
        );
      }
    }
  }

  /** Checks that a WIN and a ROLLBACK of the BET that it depends on do not both take effect. */
  private judgeRounds(): void {
    for (const { transactionId, kind, state, dependsOn } of this.database.rows.values()) {
      if (kind !== 'WIN' || state !== 'APPROVED') continue;
      for (const bet of dependsOn) {
        if (this.database.rows.get(bet)?.state !== 'ROLLED_BACK') continue;
        this.violations.push(`${transactionId} is APPROVED, and ${bet}, on which it depends, is ROLLED_BACK`);
      }
    }
  }

  /** Checks that the operator approved at most one ROLLBACK of a target. */
  private judgeReversals(): void {
    const approved = new Map<string, string>();
    for (const { kind, status, originalTransactionId, transactionId } of this.wallet.ledger.entries()) {
      if (kind !== 'ROLLBACK' || status !== 'APPROVED' || originalTransactionId === undefined) continue;
      const first = approved.get(originalTransactionId);
      if (first !== undefined) {
        this.violations.push(`${originalTransactionId} was rolled back by ${first} and by ${transactionId}`);
      }
      approved.set(originalTransactionId, transactionId);
    }
  }

  private coverage(): Coverage {
    const rows = [...this.database.rows.values()];
    const count = (matches: (row: (typeof rows)[number]) => boolean) => rows.filter(matches).length;
    return {
      takenOver: count(({ attempt }) => attempt > 1),
      fenced: this.database.fenced,
      tombstones: count(({ kind }) => kind === null),
      endedByPlatform: count(({ transactionId }) => transactionId.startsWith('croupier-')),
      inFlight: this.provider.inFlight,
      misdelivered: this.network.misdelivered,
      killed: this.killed,
      suspended: this.suspended,
    };
  }
}

/** A random selection of the requests that a provider may send for one round; always with a BET. */
function requestsOf(random: Seeded): TransactionRequest[] {
  const { playerRef, gameId, currency } = SESSION;
  const round = { playerRef, gameId, currency, roundId: 'round-1' };
  const bet = { ...round, kind: 'BET', amountMinor: 1000, transactionId: 'bet-1' } as const;
  const bet2 = { ...round, kind: 'BET', amountMinor: 200, transactionId: 'bet-2' } as const;
  const win = { ...round, kind: 'WIN', amountMinor: 30, transactionId: 'win' } as const;
  const undo = (transactionId: string, target: { transactionId: string }) =>
    ({ ...round, kind: 'ROLLBACK', transactionId, originalTransactionId: target.transactionId }) as const;
  const all = [
    bet,
    win,
    undo('undo-1a', bet),
    undo('undo-1b', bet),
    bet2,
    undo('undo-2', bet2),
    undo('undo-win', win),
  ];
  const [first, ...others] = all;
  const likely = random.pick([0.2, 0.5]);
  return [first!, ...others.filter(() => random.chance(likely))];
}
