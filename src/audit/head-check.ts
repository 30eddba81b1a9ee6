import type { AuditStore } from './audit.store.js';
import type { Break } from './chain.js';
import { placeText, type Witness } from './entry.js';
import { pagesOf } from './pages.js';
import type { Sealer } from './sealer.js';

const NOT_THE_ENTRY = 'it is not the entry that the head was taken from';

/**
 * Checks that heads kept outside of the database are entries of the log. The head of a detached entry is compared with
 * the entry's seal, which stays in the database.
 */
export class HeadCheck {
  /**
   * Number of heads of detached entries that could not be compared: the entry has no seal of its own, the seal's key is
   * unknown, or there is no sealer.
   */
  notCompared = 0;

  /** @param lastDetached the last detached entry; undefined if there is none */
  constructor(
    private readonly store: AuditStore,
    private readonly sealer: Sealer | undefined,
    private readonly lastDetached: Witness | undefined,
  ) {}

  /** Finds a head that is not an entry of the log. */
  async findLost(heads: Iterable<Witness> | AsyncIterable<Witness>): Promise<Break | undefined> {
    for await (const page of pagesOf(heads)) {
      const lost = await this.lostOf(page);
      if (lost) return lost;
    }
    return undefined;
  }

  private async lostOf(heads: readonly Witness[]): Promise<Break | undefined> {
    const detached = heads.filter((head) => this.isDetached(head));
    const forged = await this.forgedOf(detached);
    if (forged) return { at: placeText(forged), reason: NOT_THE_ENTRY };
    const lost = await this.store.lostHead(heads.filter((head) => !this.isDetached(head)));
    if (!lost) return undefined;
    const reason = lost.missing ? 'it is missing, although it existed earlier' : NOT_THE_ENTRY;
    return { at: placeText(lost), reason };
  }

  private isDetached({ day, position }: Witness): boolean {
    const last = this.lastDetached;
    if (!last) return false;
    return day < last.day || (day === last.day && position <= last.position);
  }

  /** The first head whose hash is not the one that was sealed. */
  private async forgedOf(heads: readonly Witness[]): Promise<Witness | undefined> {
    const seals = new Map((await this.store.sealsAt(heads)).map((seal) => [placeText(seal), seal]));
    for (const head of heads) {
      const seal = seals.get(placeText(head));
      const verdict = seal && this.sealer ? this.sealer.judge(seal, head.hash) : 'unknown-key';
      if (verdict === 'forged') return head;
      if (verdict === 'unknown-key') this.notCompared += 1;
    }
    return undefined;
  }
}
