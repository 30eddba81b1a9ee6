import type { Configuration } from '../../src/config/configuration.js';
import type { LimitsService } from '../../src/limits/limits.service.js';
import type { TradedCurrencies } from '../../src/limits/traded-currencies.js';
import type { Metrics } from '../../src/observability/metrics.js';
import { GatedWallet } from '../../src/operator-wallet/gated.wallet.js';
import type { OperatorWallets } from '../../src/operator-wallet/operator-wallets.service.js';
import { Clock } from '../../src/runtime/clock.js';
import { sha256 } from '../../src/runtime/digest.js';
import { Randomness } from '../../src/runtime/randomness.js';
import { SessionOwners } from '../../src/session/session-owners.js';
import type { SessionService } from '../../src/session/session.service.js';
import type { Provider } from '../../src/tenancy/tenant.js';
import type { TenancyService } from '../../src/tenancy/tenancy.service.js';
import { Admission } from '../../src/wallet/admission.js';
import type { AttemptIds } from '../../src/wallet/evidence/attempt-ids.js';
import type { Activity } from '../../src/wallet/activity/activity.service.js';
import { AttemptRunner } from '../../src/wallet/attempt.runner.js';
import type { FreshClaims } from '../../src/wallet/fresh-claim.store.js';
import type { OperatorAnswers } from '../../src/wallet/evidence/operator-answers.js';
import { ResolutionService } from '../../src/wallet/resolving/resolution.service.js';
import type { UndecidedStore } from '../../src/wallet/resolving/undecided.store.js';
import type { Claim } from '../../src/wallet/transaction.js';
import type { TransactionStore } from '../../src/wallet/transaction.store.js';
import type { ProviderFacts } from '../../src/wallet/rules/facts.js';
import { WalletService } from '../../src/wallet/wallet.service.js';
import { WinMonitor } from '../../src/wallet/win-monitor.js';
import type { Seeded } from '../seeded.js';
import type { SimulatedDatabase } from './database.js';
import type { SimulatedTime } from './time.js';
import { type CallSurroundings, WALLET_TIMEOUT_MS, WalletCalls } from './wallet-calls.js';

export const LEASE_SECONDS = 6;
export const TOKEN = 'token';
/** Polling interval of the resolver, in milliseconds. */
const RESOLVER_MS = 10_000;

/** The environment of an instance, which survives its crashes. */
export interface Surroundings extends CallSurroundings {
  readonly random: Seeded;
  readonly database: SimulatedDatabase;
}

/** The members of a service that a stand-in provides. */
type Side<Service, Method extends keyof Service> = Pick<Service, Method>;

/**
 * One process of the service: its own WalletService, AttemptRunner and ResolutionService with a simulated database and
 * wallet. It can be suspended and killed; code of a killed process never continues.
 */
export class SimulatedInstance {
  private alive = true;
  private suspendedUntil = 0;
  private service!: WalletService;
  private resolution!: ResolutionService;

  constructor(private readonly around: Surroundings) {
    this.boot();
    around.time.after(around.random.between(0, RESOLVER_MS), () => this.poll());
  }

  get running(): boolean {
    return this.alive;
  }

  submit(
    provider: ProviderFacts,
    request: Parameters<WalletService['submit']>[1],
  ): ReturnType<WalletService['submit']> {
    return this.service.submit(provider as Provider, request);
  }

  /** SIGSTOP: what arrives meanwhile is processed after SIGCONT. */
  suspend(milliseconds: number): void {
    this.suspendedUntil = Math.max(this.suspendedUntil, this.around.time.now + milliseconds);
  }

  /** SIGKILL, and a restart after some time. */
  kill(downMs: number): void {
    this.alive = false;
    this.suspendedUntil = 0;
    this.around.time.after(downMs, () => {
      this.boot();
      this.alive = true;
    });
  }

  /** Runs code in this process: after it has resumed if it is suspended, and never if it has been killed since. */
  deliver(run: () => void): void {
    const { time } = this.around;
    const { service } = this;
    const arrive = () => {
      if (!this.alive || this.service !== service) return;
      if (this.suspendedUntil > time.now) time.after(this.suspendedUntil - time.now, arrive);
      else run();
    };
    arrive();
  }

  private boot(): void {
    const { time, random } = this.around;
    const randomness = new SeededRandomness(random);
    const clock = new SimulatedClock(time);
    const tenancy: Side<TenancyService, 'operator' | 'walletTimeoutMs'> = {
      operator: () => OPERATOR,
      walletTimeoutMs: () => WALLET_TIMEOUT_MS,
    };
    const metrics: Side<Metrics, 'transactionSettled' | 'operatorCallRefused'> = {
      transactionSettled: () => undefined,
      operatorCallRefused: () => undefined,
    };
    const calls = new WalletCalls(this.around, (run) => this.deliver(run));
    // The bound is sometimes very low, so that a reservation that is never released blocks all calls and is detected.
    const gate = new GatedWallet(calls, 'operator', random.pick([2, 256]), clock, metrics as Metrics);
    const wallets: Side<OperatorWallets, 'walletOf' | 'reserve' | 'wouldAdmit'> = {
      reserve: (_, kind) => gate.reserve(kind),
      wouldAdmit: (_, kind) => gate.wouldAdmit(kind),
      walletOf: () => gate,
    };
    const owners = new SessionOwners();
    // The shortcut is used only for sessions that this process has seen.
    if (random.chance(0.5)) owners.remember(sha256(TOKEN), this.around.database.session);
    const transactions = this.transactions();
    const attempts = new AttemptRunner(
      { transactionLeaseSeconds: LEASE_SECONDS } as Configuration,
      clock,
      tenancy as TenancyService,
      wallets as OperatorWallets,
      transactions as TransactionStore,
      new WinMonitor(
        { maxWinMinor: () => undefined } as unknown as LimitsService,
        metrics as Metrics,
        { note: () => undefined } as unknown as TradedCurrencies,
      ),
      // Only the live view, which the simulation leaves out, reads what this counts.
      { submitted: () => undefined, settled: () => undefined } as unknown as Activity,
      // Only the support desk, which the simulation leaves out, reads invalid answers.
      { keep: () => Promise.resolve() } as unknown as OperatorAnswers,
      { remember: () => undefined } as unknown as AttemptIds,
    );
    this.service = new WalletService(
      randomness,
      {} as SessionService,
      owners,
      tenancy as TenancyService,
      wallets as OperatorWallets,
      this.freshClaims() as FreshClaims,
      transactions as TransactionStore,
      attempts,
      new Admission(metrics as Metrics),
    );
    const { database } = this.around;
    const undecided: Side<UndecidedStore, 'find'> = { find: (key) => this.query(() => database.find(key)) };
    this.resolution = new ResolutionService(
      undecided as UndecidedStore,
      transactions as TransactionStore,
      attempts,
      randomness,
    );
  }

  private transactions(): Side<
    TransactionStore,
    'load' | 'claim' | 'claimWin' | 'claimRollback' | 'retry' | 'settle' | 'recordReported'
  > {
    const { database } = this.around;
    return {
      load: (submission) => this.query(() => database.load(submission)),
      claim: (transaction) => this.queryClaim(() => database.claim(transaction)),
      claimWin: (transaction, round) => this.queryClaim(() => database.claimWin(transaction, round)),
      claimRollback: (transaction, round, target, tombstoneId) =>
        this.queryClaim(() => database.claimRollback(transaction, round, target, tombstoneId)),
      retry: (_, transactionId, attempt) => this.queryClaim(() => database.retry(transactionId, attempt)),
      settle: (claim, settlement) => this.query(() => (database.settle(claim, settlement) ? {} : undefined)),
      // Only the support desk, which the simulation leaves out, reads it.
      recordReported: () => this.query(() => undefined),
    };
  }

  private freshClaims(): Side<FreshClaims, 'tryClaim'> {
    const { database, bug, time } = this.around;
    return {
      tryClaim: (submission) => {
        if (bug !== 'claim-after-call') return this.queryClaim(() => database.tryClaim(submission));
        // The planted bug: the claim is returned at once, and becomes durable only while the operator is called.
        return new Promise((resolve) => {
          const claim = database.tryClaim(submission);
          const row = database.rows.get(submission.request.transactionId);
          if (claim && row) {
            database.rows.delete(claim.operatorRequest.transactionId);
            time.after(1, () => {
              if (this.alive) database.rows.set(claim.operatorRequest.transactionId, row);
            });
          }
          resolve(claim);
        });
      },
    };
  }

  /** Like `query`, but also notes when the statement was sent, because the lease counts from then. */
  private queryClaim(work: () => Claim | undefined): Promise<Claim | undefined> {
    let sentMs = 0;
    return this.query(work, () => (sentMs = this.around.time.now)).then(
      (claim) => claim && { ...claim, sentMs },
    );
  }

  /** One round trip to the database. A statement that arrives is executed, even if its sender has died. */
  private query<T>(work: () => T, onSend?: () => void): Promise<T> {
    const { network } = this.around;
    return new Promise((resolve, reject) => {
      const fate = network.fateOfQuery();
      const lost = () => this.deliver(() => reject(new Error('the connection to the database is lost')));
      this.deliver(() => {
        onSend?.();
        network.hop(() => {
          if (fate === 'lost-before') return network.hop(lost);
          const result = work();
          network.hop(fate === 'lost-after' ? lost : () => this.deliver(() => resolve(result)));
        });
      });
    });
  }

  private poll(): void {
    const { time, database } = this.around;
    this.deliver(() => {
      for (const due of database.due()) {
        const resolved = this.resolution.resolve(due, 'resolver');
        resolved.then(
          ({ to }) => {
            if (to === 'for-a-person' || to === 'ending-declined') database.park(due);
          },
          () => undefined,
        );
      }
    });
    time.after(RESOLVER_MS, () => this.poll());
  }
}

const OPERATOR = { status: 'ACTIVE' } as ReturnType<TenancyService['operator']>;

class SimulatedClock extends Clock {
  constructor(private readonly time: SimulatedTime) {
    super();
  }

  override now(): Date {
    return new Date(this.time.now);
  }
}

class SeededRandomness extends Randomness {
  constructor(private readonly random: Seeded) {
    super();
  }

  override uuid(): string {
    return this.random.uuid();
  }

  override integer(most: number): number {
    return this.random.below(most + 1);
  }
}
