import { Injectable } from '@nestjs/common';
import { Clock } from '../runtime/clock.js';
import type { Actor } from './actor.js';
import { Audit } from './audit.service.js';
import type { NewEntry } from './entry.js';
import { EntryBudget } from './entry-budget.js';
import { RepeatedEntries } from './repeated-entries.js';

/** Number of reads in one window after which an administrator has to wait: more than a person or a paging script makes. */
const READS = 3_000;

/** Records what administrators read, before they are answered, and bounds the number of these entries. */
@Injectable()
export class Reads {
  private readonly budget: EntryBudget;

  constructor(
    private readonly audit: Audit,
    private readonly repeated: RepeatedEntries,
    clock: Clock,
  ) {
    this.budget = new EntryBudget(READS, clock);
  }

  /** @throws CroupierError RATE_LIMITED if the actor's reads have caused too many entries in the current window */
  async record(actor: Actor, entry: NewEntry): Promise<void> {
    this.take(actor);
    await this.audit.record(actor, entry);
  }

  /** As `record`, but a repetition within a minute is only counted, and does not use up the budget. */
  async recordPoll(actor: Actor, entry: NewEntry): Promise<void> {
    await this.repeated.record(actor, entry, () => this.take(actor));
  }

  private take(actor: Actor): void {
    this.budget.requireRest(actor);
    this.budget.spend(actor);
  }
}
