import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Database, type Query, type Transaction } from '../database/database.js';
import { type Stage, Turns } from '../database/turns.js';
import { Metrics } from '../observability/metrics.js';
import { currentRequestId } from '../observability/trace.js';
import type { Actor } from './actor.js';
import { type AppendedEntry, AuditStore, type Filter } from './audit.store.js';
import type { Entry, EntryPlace, NewEntry, Seal, TargetEntry, Witness } from './entry.js';
import { Sealer } from './sealer.js';

/** Appends an audit entry in the transaction of the change that it records. */
export type RecordEntry = (entry: NewEntry) => Promise<void>;

/**
 * The audit log of administrators and operators, append-only and hash-chained. Other rooms wrap a write in `change` and
 * call `record` for all other actions. Contract, section 7.
 */
@Injectable()
export class Audit implements OnApplicationBootstrap {
  private readonly logger = new Logger('Audit');
  /** The highest seal number that this instance found at its start or has committed since. */
  private lastSeal = 0;

  constructor(
    private readonly database: Database,
    private readonly store: AuditStore,
    private readonly sealer: Sealer,
    private readonly turns: Turns,
  ) {}

  /**
   * Seals the newest entry if it has no seal, for example because an earlier version appended it. Therefore, once this
   * version has started, a log with entries but without any seal is invalid.
   */
  async onApplicationBootstrap(): Promise<void> {
    const newest = await this.database.transaction(async ({ query }) => {
      const head = await this.store.lockedUnsealedHead(query);
      return head ? this.seal(query, head) : this.store.newestSeal(query);
    });
    this.lastSeal = newest?.number ?? 0;
  }

  /**
   * Runs a change and appends its audit entries in one transaction, so that neither is committed without the other.
   * Other transactions cannot append between `record` and the commit, so call `record` at the end of `work`, and never
   * call a counterpart after it. Do not record a change that turns out to have no effect.
   *
   * The changes of an actor take turns: `work` holds a connection while it waits for locks, so it must not make another
   * change.
   * @throws CroupierError OVERLOADED; and what `work` throws
   */
  async change<T>(
    actor: Actor,
    work: (transaction: Transaction, record: RecordEntry) => Promise<T>,
    stage: Stage = 'request',
  ): Promise<T> {
    const appended: { entry: NewEntry; witness: Witness; seal: Seal }[] = [];
    const inTransaction = () =>
      this.database.transaction((transaction) =>
        work(transaction, async (entry) => {
          const { query } = transaction;
          const witness = await this.store.append(query, actor, entry, currentRequestId());
          appended.push({ entry, witness, seal: await this.seal(query, witness) });
        }),
      );
    const result = await this.turns.changes.run(actor.actor, stage, inTransaction);
    for (const { entry, witness, seal } of appended) {
      this.lastSeal = Math.max(this.lastSeal, seal.number);
      this.logAppended(actor, entry, witness);
    }
    return result;
  }

  /**
   * Records an action in a transaction of its own: a read of data about players, money or administrators, a refusal, or
   * an action that makes its changes in other transactions. Await it before answering: a read that cannot be recorded
   * is not answered.
   * @throws CroupierError OVERLOADED
   */
  async record(actor: Actor, entry: NewEntry, stage: Stage = 'begun'): Promise<void> {
    await this.change(actor, (_, record) => record(entry), stage);
  }

  /** The entries that match, newest first; only those before a place, if one is given. */
  entries(filter: Filter, before: EntryPlace | undefined, limit: number): Promise<Entry[]> {
    return this.store.page(filter, before, limit);
  }

  /** Whether the newest seal was made with the current `SECRETS_KEY`. */
  async isSealedWithCurrentKey(query: Query): Promise<boolean> {
    return (await this.store.newestSeal(query))?.keyId === this.sealer.keyId;
  }

  /**
   * For each target, the newest entry that has a seal of a known key and whose `after` has this field. Targets without
   * such an entry are left out. The seals themselves must have been verified.
   * @param query runs in the caller's transaction
   */
  newestWith(query: Query, targets: readonly string[], field: string): Promise<TargetEntry[]> {
    return this.store.newestWith(query, targets, field, this.sealer.keyIds);
  }

  /**
   * Seals an appended entry. The number follows the highest one that this instance knows, even if the database no
   * longer has that seal. So if seals are removed, or a backup is restored under a running service, the numbers have a
   * gap, which `audit:verify` reports.
   */
  private async seal(query: Query, appended: AppendedEntry): Promise<Seal> {
    const seal = this.sealer.seal(Math.max(appended.lastSeal, this.lastSeal) + 1, appended);
    await this.store.insertSeal(query, seal);
    return seal;
  }

  /** Logs the entry's hash outside of the database: it later reveals whether an entry up to this one was altered. */
  private logAppended({ actor, address }: Actor, entry: NewEntry, { day, position, hash }: Witness): void {
    const { action, target, outcome } = entry;
    this.logger.log({ msg: `audit ${action}`, actor, action, target, outcome, address, day, position, hash });
  }
}

/** An `Audit` for a command, which runs without the application. */
export function auditOver(database: Database, sealer: Sealer): Audit {
  return new Audit(database, new AuditStore(database), sealer, new Turns(new Metrics()));
}
