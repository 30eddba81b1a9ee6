import type { Database } from '../database/database.js';
import { AuditStore } from './audit.store.js';
import { type Break, Chain } from './chain.js';
import type { Witness } from './entry.js';

/** Entries that are read at a time. */
const PAGE = 1_000;

export type Verdict =
  | {
      readonly kind: 'holds';
      readonly days: number;
      readonly entries: number;
      /** To be kept elsewhere: what it witnesses cannot be cut off or rewritten unnoticed. Absent: no entry. */
      readonly head?: Witness;
    }
  | ({ readonly kind: 'broken' } & Break);

/**
 * Proves the audit log from its first entry to its last, beside a running service. Entries that were cut off the
 * end, or a log that was rewritten as a whole, show only against a witness from outside of the database.
 * @param witness what an earlier proof, or the service's log, said of one entry
 */
export async function verifyAudit(database: Database, witness?: Witness): Promise<Verdict> {
  const store = new AuditStore(database);
  const chain = new Chain();
  let witnessed = witness === undefined;
  for (;;) {
    const entries = await store.following(chain.last, PAGE);
    for (const entry of entries) {
      const broken = chain.follow(entry);
      if (broken) return { kind: 'broken', ...broken };
      if (witness?.day !== entry.day || witness.position !== entry.position) continue;
      const at = `${entry.day}/${entry.position}`;
      if (witness.hash !== entry.hash)
        return { kind: 'broken', at, reason: 'it is not the entry of the witness' };
      witnessed = true;
    }
    if (entries.length < PAGE) break;
  }
  if (!witnessed) {
    const at = `${witness!.day}/${witness!.position}`;
    return { kind: 'broken', at, reason: 'it is missing: there was such an entry once' };
  }
  const { days, entries, last: head } = chain;
  return { kind: 'holds', days, entries, ...(head && { head }) };
}
