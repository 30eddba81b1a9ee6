import type { Schema } from '../../api/schemas.ts';
import { addressOf, pageOf } from '../../parts/addresses.ts';

type Item = Pick<Schema<'AttentionItem'>, 'kind' | 'subject' | 'count' | 'href'>;

/** Ends the subject of the grants of a batch that could not be cancelled at their expiresAt. */
const OF_EXPIRY = '/expiry';

/** The page of what an item is about; that of the whole batch if it is about several of its grants. */
export function causePage({ kind, subject, count, href }: Item): string | undefined {
  if (kind === 'grant' && count !== undefined) return addressOf.batch(batchOf(subject));
  return href === undefined ? undefined : pageOf(href);
}

/** The list of exactly the grants that an item of a batch is about; undefined for other items. */
export function grantsPage({ kind, count, href }: Item): string | undefined {
  return kind === 'grant' && count !== undefined && href !== undefined ? pageOf(href) : undefined;
}

function batchOf(subject: string): string {
  return subject.endsWith(OF_EXPIRY) ? subject.slice(0, -OF_EXPIRY.length) : subject;
}
