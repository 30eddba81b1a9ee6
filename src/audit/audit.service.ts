import { Injectable, Logger } from '@nestjs/common';
import { Database, type Query } from '../database/database.js';
import { currentRequestId } from '../observability/trace.js';
import type { Actor } from './actor.js';
import { AuditStore, type Filter, type Place } from './audit.store.js';
import type { Deed, Entry, Witness } from './entry.js';

/** Notes what was done, in the transaction that does it. */
export type Record = (deed: Deed) => Promise<void>;

/**
 * What administrators and operators did: append-only and hash-chained. The other rooms enter here: `change` around
 * a write, `read` beside a sensitive read. Contract, section 7, "audit".
 */
@Injectable()
export class Audit {
  private readonly logger = new Logger('Audit');

  constructor(
    private readonly database: Database,
    private readonly store: AuditStore,
  ) {}

  /**
   * Runs a change and what it records in one transaction: neither is ever committed without the other. Appends
   * wait for each other from `record` to the commit, so record last, and call nobody outside in between. What
   * turned out to change nothing records nothing.
   */
  async change<T>(actor: Actor, work: (query: Query, record: Record) => Promise<T>): Promise<T> {
    const appended: { deed: Deed; witness: Witness }[] = [];
    const result = await this.database.transaction((query) =>
      work(query, async (deed) => {
        appended.push({ deed, witness: await this.store.append(query, actor, deed, currentRequestId()) });
      }),
    );
    for (const { deed, witness } of appended) this.tell(actor, deed, witness);
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

  /** The log is the witness outside of the database: the hash proves later what the chain was at this moment. */
  private tell({ actor, address }: Actor, { action, target }: Deed, witness: Witness): void {
    const { day, position, hash } = witness;
    this.logger.log({ msg: `audit ${action}`, actor, action, target, address, day, position, hash });
  }
}

/** The same for a command, which has no application around it. */
export function auditOver(database: Database): Audit {
  return new Audit(database, new AuditStore(database));
}
