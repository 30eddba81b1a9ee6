import type { Query } from '../database/database.js';
import type { Cause } from './attention.js';
import { END_OTHER_FINDINGS } from './attention.sql.js';
import { openItems } from './attention.store.js';

/**
 * Opens an item for each finding that has none. Also called by a command, which runs without the Nest application.
 * @param query perhaps of a transaction of the caller
 * @param complete whether `findings` has all findings of the range; if so, the items of other findings in this range
 *   are closed
 * @param by the actor that opens the items, as their history shows it
 */
export async function recordFindings(
  query: Query,
  { operatorId, from, to }: { operatorId: string } & NonNullable<Cause['range']>,
  findings: readonly Cause[],
  complete: boolean,
  by: string,
): Promise<{ opened: number; ended: number }> {
  const subjects = findings.map(({ subject }) => subject);
  const ended = complete ? await query(END_OTHER_FINDINGS, { operatorId, from, to, subjects }) : [];
  return { opened: await openItems(query, findings, by), ended: ended.length };
}
