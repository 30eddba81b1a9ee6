import type { Database } from '../database/database.js';
import { Randomness } from '../runtime/randomness.js';
import type { Cause } from './attention.js';
import { AttentionStore } from './attention.store.js';

/**
 * Opens an item for each finding that has none. Also called by a command, which runs without the Nest application.
 * @param database runs the statements, perhaps in a transaction of the caller
 * @param complete whether `findings` has all findings of the range; if so, the items of other findings in this range
 *   are closed
 * @param by the actor that opens the items, as their history shows it
 */
export async function recordFindings(
  database: Pick<Database, 'query'>,
  { operatorId, from, to }: { operatorId: string } & NonNullable<Cause['range']>,
  findings: readonly Cause[],
  complete: boolean,
  by: string,
): Promise<{ opened: number; ended: number }> {
  const items = new AttentionStore(database, new Randomness());
  const subjects = findings.map(({ subject }) => subject);
  const ended = complete ? await items.endOtherFindings(operatorId, { from, to }, subjects) : 0;
  return { opened: await items.open(findings, by), ended };
}
