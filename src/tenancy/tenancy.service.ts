import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Configuration, LEASE_MARGIN_MS } from '../config/configuration.js';
import { ConfigurationError } from '../config/variable-reader.js';
import { DatabaseClock } from '../database/database-clock.js';
import { CroupierError } from '../errors/croupier-error.js';
import { Readiness } from '../health/readiness.js';
import { Background } from '../runtime/background.js';
import type { BackgroundLoop } from '../runtime/background-loop.js';
import { Clock } from '../runtime/clock.js';
import { type Directory, directoryOf, EMPTY_DIRECTORY, pauseKey } from './directory.js';
import { isInForce, type Pause, type PausedKind } from './pauses/pause.entity.js';
import { type BetParties, pausedError, pauseOfBets } from './pauses/refuse-paused.js';
import { SecretBox } from './secrets/secret-box.js';
import { type SnapshotReader, TenancyStore } from './tenancy.store.js';
import type { Game, Operator, Provider, Tenant } from './tenant.js';

/** Polling interval for changes, in milliseconds, so that every instance sees a change within a second. */
const POLL_MS = 500;
/** How long the directory is trusted while the database cannot be read, in milliseconds. */
const TRUSTED_MS = 30_000;
/** How long a stop waits for a poll in progress, in milliseconds. Nothing depends on the result of the poll. */
const STOP_MS = 1_000;

const UNREADABLE = 'PostgreSQL cannot be read: requests that need it are refused, and may be tried again';

/**
 * The central configuration: all tenants, their secrets and games, kept in memory so that neither a request nor a
 * failed signature costs a query. Look-ups are synchronous and use the last directory that was read. Callers that must
 * not use an outdated directory call `assertFresh` first.
 */
@Injectable()
export class TenancyService implements OnModuleInit {
  /** The longest time-out of a wallet that a transaction's lease permits, in milliseconds. */
  readonly longestWalletTimeoutMs: number;

  private readonly logger = new Logger('Tenancy');
  private directory: Directory = EMPTY_DIRECTORY;
  /** The monotonic time at which the last successful reading began. */
  private confirmedAtMs = -Infinity;
  private readonly readers: SnapshotReader[] = [];
  private readonly loop: BackgroundLoop;

  constructor(
    private readonly configuration: Configuration,
    private readonly store: TenancyStore,
    private readonly secretBox: SecretBox,
    private readonly clock: Clock,
    private readonly databaseClock: DatabaseClock,
    background: Background,
    readiness: Readiness,
  ) {
    readiness.checkTenants(() => this.isFresh());
    this.loop = background.add({
      name: 'read changes of tenants, games, limits and pauses',
      intervalMs: POLL_MS,
      stopMs: STOP_MS,
      work: () => this.poll(),
      onError: (detail) => this.logger.error({ msg: UNREADABLE, detail }),
      onRecovery: () => this.logger.log({ msg: 'PostgreSQL can be read again' }),
    });
    this.longestWalletTimeoutMs = configuration.transactionLeaseSeconds * 1000 - LEASE_MARGIN_MS;
  }

  /** @throws ConfigurationError if the stored tenants do not fit this instance's configuration */
  async onModuleInit(): Promise<void> {
    await this.poll();
    const [unreadable] = this.directory.unreadable.values();
    if (unreadable !== undefined) throw new ConfigurationError(`SECRETS_KEY: ${unreadable}`);
    for (const { tenant } of this.directory.tenants.values()) this.refuseSlowWallet(tenant);
  }

  /**
   * Registers a reader of configuration that another room stores and keeps in memory. It runs in the snapshot of the
   * directory. A trigger on the room's table must increment the tenancy version.
   */
  loadWithDirectory(reader: SnapshotReader): void {
    this.readers.push(reader);
  }

  provider(id: string): Provider | undefined {
    const tenant = this.directory.tenants.get(id)?.tenant;
    return tenant?.kind === 'PROVIDER' ? tenant : undefined;
  }

  operator(id: string): Operator | undefined {
    const tenant = this.directory.tenants.get(id)?.tenant;
    return tenant?.kind === 'OPERATOR' ? tenant : undefined;
  }

  /** All providers and operators, ordered by id. */
  tenants(): Tenant[] {
    const tenants = [...this.directory.tenants.values()].map(({ tenant }) => tenant);
    return tenants.sort((one, other) => (one.id < other.id ? -1 : 1));
  }

  game(gameId: string): Game | undefined {
    return this.directory.games.get(gameId);
  }

  /** The pause in force. Contract, section 9, "Health and pauses". */
  pause(kind: PausedKind, id: string): Pause | undefined {
    const pause = this.directory.pauses.get(pauseKey(kind, id));
    return pause && isInForce(pause, this.databaseClock.now()) ? pause : undefined;
  }

  /** The pause that refuses BETs and launches: of the game, its provider or the operator. */
  pauseOfBets(parties: BetParties): Pause | undefined {
    if (this.directory.pauses.size === 0) return undefined;
    return pauseOfBets(parties, (kind, id) => this.pause(kind, id));
  }

  /** The error for a BET or launch that a pause refuses. */
  pausedError(pause: Parameters<typeof pausedError>[0]): CroupierError {
    return pausedError(pause, this.databaseClock.now());
  }

  /** Whether the tenant exists, but was left out of the directory because its secret cannot be decrypted. */
  isUnreadable(id: string): boolean {
    return this.directory.unreadable.has(id);
  }

  /** The valid secrets for incoming calls of this tenant, the current one first. Contract, section 1. */
  verificationSecrets(id: string): readonly string[] | undefined {
    const entry = this.directory.tenants.get(id);
    if (!entry) return undefined;
    const previous = this.stillValid(entry.previous);
    return previous === undefined ? [entry.secret] : [entry.secret, previous];
  }

  /**
   * The secret for outgoing calls to this tenant: the previous one as long as it is valid, because the tenant may not
   * have the new one yet. Contract, section 1.
   * @throws CroupierError CONFIGURATION_UNAVAILABLE if the tenant is unknown
   */
  signingSecret(id: string): string {
    const entry = this.directory.tenants.get(id);
    if (!entry) throw new CroupierError('CONFIGURATION_UNAVAILABLE');
    return this.stillValid(entry.previous) ?? entry.secret;
  }

  /**
   * The tenant's limit of requests per second. `Nonces` stores no nonce beyond it, so the throttler must refuse beyond the
   * same number.
   */
  requestsPerSecond(tenant: Tenant): number {
    return tenant.requestsPerSecond ?? this.configuration.requestsPerSecond;
  }

  walletTimeoutMs(operator: Operator): number {
    const timeoutMs = operator.walletTimeoutMs ?? this.configuration.operatorTimeoutMs;
    // An instance with a longer lease may have accepted a longer time-out than this one's lease allows.
    return Math.min(timeoutMs, this.longestWalletTimeoutMs);
  }

  /** The longest of all operators' wallet time-outs, in milliseconds: no call to a wallet takes longer. */
  longestWalletTimeoutInUseMs(): number {
    const timeouts = this.tenants().map((tenant) =>
      tenant.kind === 'OPERATOR' ? this.walletTimeoutMs(tenant) : 0,
    );
    return Math.max(0, ...timeouts);
  }

  /** Whether the database has confirmed the directory within the last 30 seconds. */
  isFresh(): boolean {
    return this.clock.monotonicMs() - this.confirmedAtMs <= TRUSTED_MS;
  }

  /** @throws CroupierError CONFIGURATION_UNAVAILABLE if the directory may be older than 30 seconds */
  assertFresh(): void {
    if (!this.isFresh()) throw new CroupierError('CONFIGURATION_UNAVAILABLE');
  }

  /**
   * Reads a committed change, so that it takes effect on this instance at once; the others read it within a second.
   * Never rejects: if this reading fails, the next poll reads the change.
   * @returns whether it succeeded
   */
  async reload(): Promise<boolean> {
    await this.loop.run();
    return !this.loop.failing && !this.loop.stopping;
  }

  private stillValid(previous: { secret: string; validUntil: Date } | undefined): string | undefined {
    return previous && previous.validUntil > this.databaseClock.now() ? previous.secret : undefined;
  }

  private async poll(): Promise<void> {
    const startedAtMs = this.clock.monotonicMs();
    const { version } = await this.databaseClock.read((onSend) => this.store.version(onSend));
    // Any other version is loaded, even a lower one, because restoring a backup lowers the version and changes the
    // rows.
    if (version === this.directory.version) this.confirmedAtMs = startedAtMs;
    else await this.load();
  }

  private async load(): Promise<void> {
    const startedAtMs = this.clock.monotonicMs();
    const snapshot = await this.store.snapshot(this.readers);
    this.directory = directoryOf(snapshot, this.secretBox);
    const { unreadable, withoutPrevious } = this.directory;
    for (const problem of [...unreadable.values(), ...withoutPrevious]) this.logger.error(problem);
    this.confirmedAtMs = startedAtMs;
  }

  private refuseSlowWallet(tenant: Provider | Operator): void {
    if (tenant.kind !== 'OPERATOR' || (tenant.walletTimeoutMs ?? 0) <= this.longestWalletTimeoutMs) return;
    throw new ConfigurationError(
      `TRANSACTION_LEASE_SECONDS: ${this.configuration.transactionLeaseSeconds} must be at least 1 s longer than ` +
        `walletTimeoutMs (${tenant.walletTimeoutMs}) of operator ${tenant.id}`,
    );
  }
}
