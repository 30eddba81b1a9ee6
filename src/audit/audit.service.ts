import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Database, type Query, type Transaction } from '../database/database.js';
import { currentRequestId } from '../observability/trace.js';
import type { Actor } from './actor.js';
import { type Appended, AuditStore, type Filter, type Place, type Statement } from './audit.store.js';
import type { Deed, Entry, Seal, Witness } from './entry.js';
import { Sealer } from './sealer.js';

/** Notes what was done, in the transaction that does it. */
export type Record = (deed: Deed) => Promise<void>;

/**
 * What administrators and operators did: append-only and hash-chained. The other rooms enter here: `change` around
 * a write, `read` beside a sensitive read. Contract, section 7, "audit".
 */
@Injectable()
export class Audit implements OnApplicationBootstrap {
  private readonly logger = new Logger('Audit');
  /** The highest number of a seal that this instance has found at its start or has committed. */
  private lastSeal = 0;

  constructor(
    private readonly database: Database,
    private readonly store: AuditStore,
    private readonly sealer: Sealer,
  ) {}

  /** Seals what instances of an earlier version have written: from the first start on, a log without seals is broken. */
  async onApplicationBootstrap(): Promise<void> {
    const newest = await this.database.transaction(async ({ query }) => {
      const head = await this.store.lockedUnsealedHead(query);
      return head ? this.seal(query, head) : this.store.newestSeal(query);
    });
    this.lastSeal = newest?.number ?? 0;
  }

  /**
   * Runs a change and what it records in one transaction: neither is ever committed without the other. Appends
   * wait for each other from `record` to the commit, so record last, and call nobody outside in between. What
   * turned out to change nothing records nothing.
   */
  async change<T>(actor: Actor, work: (transaction: Transaction, record: Record) => Promise<T>): Promise<T> {
    const appended: { deed: Deed; witness: Witness; seal: Seal }[] = [];
    const result = await this.database.transaction((transaction) =>
      work(transaction, async (deed) => {
        const { query } = transaction;
        const witness = await this.store.append(query, actor, deed, currentRequestId());
        appended.push({ deed, witness, seal: await this.seal(query, witness) });
      }),
    );
    for (const { deed, witness, seal } of appended) {
      this.lastSeal = Math.max(this.lastSeal, seal.number);
      this.tell(actor, deed, witness);
    }
    return result;
  }

  /**
   * Records a read of what names players, money or administrators. To be awaited before the answer is given:
   * where it cannot be recorded, nothing is shown.
   */
  async read(actor: Actor, deed: Deed): Promise<void> {
    await this.change(actor, (_, record) => record(deed));
  }

  /** Newest first. @param before undefined: from the newest on @param limit 1 or more */
  entries(filter: Filter, before: Place | undefined, limit: number): Promise<Entry[]> {
    return this.store.page(filter, before, limit);
  }

  /** The newest entry. */
  head(): Promise<Witness | undefined> {
    return this.store.head();
  }

  /** Whether the newest seal was made with the present `SECRETS_KEY`. @param query a transaction */
  async isSealedWithPresentKey(query: Query): Promise<boolean> {
    return (await this.store.newestSeal(query))?.keyId === this.sealer.keyId;
  }

  /** Of each target the newest sealed entry whose `after` has this field. @param query a transaction */
  newestWith(query: Query, targets: readonly string[], field: string): Promise<Statement[]> {
    return this.store.newestWith(query, targets, field);
  }

  /**
   * The number goes on from the highest that this instance knows, even if the database has forgotten it: where seals
   * were removed, or a backup was restored under a running service, a gap stays that `audit:verify` reports.
   */
  private async seal(query: Query, appended: Appended): Promise<Seal> {
    const seal = this.sealer.seal(Math.max(appended.lastSeal, this.lastSeal) + 1, appended);
    await this.store.insertSeal(query, seal);
    return seal;
  }

  /** The log is the witness outside of the database: the hash proves later what the chain was at this moment. */
  private tell({ actor, address }: Actor, { action, target, outcome }: Deed, witness: Witness): void {
    const { day, position, hash } = witness;
    this.logger.log({ msg: `audit ${action}`, actor, action, target, outcome, address, day, position, hash });
  }
}

/** The same for a command, which has no application around it. */
export function auditOver(database: Database, sealer: Sealer): Audit {
  return new Audit(database, new AuditStore(database), sealer);
}
