import type { Schema } from '../../api/schemas.ts';
import { addressOf, pageOf } from '../../parts/links/addresses.ts';

type Item = Pick<Schema<'AttentionItem'>, 'kind' | 'subject' | 'count' | 'href'>;

/** The page of what an item is about; that of the whole batch if it is about several of its grants. */
export function causePage({ kind, subject, count, href }: Item): string | undefined {
  // Of a batch, the subject may say after a slash which of its grants the item is about.
  if (kind === 'grant' && count !== undefined) return addressOf.batch(subject.split('/', 1)[0]!);
  return href === undefined ? undefined : pageOf(href);
}

/** The list of exactly the grants that an item of a batch is about; undefined for other items. */
export function grantsPage({ kind, count, href }: Item): string | undefined {
  return kind === 'grant' && count !== undefined && href !== undefined ? pageOf(href) : undefined;
}
