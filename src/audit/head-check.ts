import type { AuditStore } from './audit.store.js';
import type { Break } from './chain.js';
import { placeText, type Witness } from './entry.js';
import { pagesOf } from './pages.js';
import type { Sealer } from './sealer.js';

const NOT_THE_ENTRY = 'it is not the entry that the head was taken from';

/**
 * Checks that heads kept outside of the database are entries of the log. The head of a detached entry is compared with
 * the entry's seal, which stays in the database.
 * @param lastDetached the last detached entry; undefined if there is none
 * @returns a head that is not an entry of the log, or the number of heads that could not be compared: those of detached
 *   entries without a seal of their own, or with a seal of an unknown key, or all of them if there is no sealer
 */
export async function compareHeads(
  heads: Iterable<Witness> | AsyncIterable<Witness>,
  store: AuditStore,
  sealer: Sealer | undefined,
  lastDetached: Witness | undefined,
): Promise<Break | { readonly notCompared: number }> {
  let notCompared = 0;
  for await (const page of pagesOf(heads)) {
    const detached = page.filter((head) => isDetached(head, lastDetached));
    const seals = new Map((await store.sealsAt(detached)).map((seal) => [placeText(seal), seal]));
    for (const head of detached) {
      const seal = seals.get(placeText(head));
      const verdict = seal && sealer ? sealer.judge(seal, head.hash) : 'unknown-key';
      if (verdict === 'forged') return { at: placeText(head), reason: NOT_THE_ENTRY };
      if (verdict === 'unknown-key') notCompared += 1;
    }
    const lost = await store.lostHead(page.filter((head) => !isDetached(head, lastDetached)));
    if (lost) {
      const reason = lost.missing ? 'it is missing, although it existed earlier' : NOT_THE_ENTRY;
      return { at: placeText(lost), reason };
    }
  }
  return { notCompared };
}

function isDetached({ day, position }: Witness, last: Witness | undefined): boolean {
  return last !== undefined && (day < last.day || (day === last.day && position <= last.position));
}
