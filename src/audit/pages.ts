import type { AuditStore } from './audit.store.js';
import type { EntryPlace, SealedEntry } from './entry.js';

/** Number of entries, or of their heads, that one query reads. */
const PAGE = 1_000;

/** Groups items into the pages that one query looks up. */
export async function* pagesOf<T>(items: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T[]> {
  let page: T[] = [];
  for await (const item of items) {
    page.push(item);
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

/**
 * The entries of the log, oldest first, in pages.
 * @param after the entry before the first one; undefined to start at the log's first entry
 * @param end the day before which the entries end; undefined to read to the end of the log
 */
export async function* storedPages(
  store: AuditStore,
  after: EntryPlace | undefined,
  end?: string,
): AsyncGenerator<SealedEntry[]> {
  for (let last = after; ;) {
    const page = await store.following(last, PAGE);
    const entries = end === undefined ? page : page.filter(({ day }) => day < end);
    if (entries.length > 0) yield entries;
    if (entries.length < PAGE) return;
    last = entries.at(-1);
  }
}
