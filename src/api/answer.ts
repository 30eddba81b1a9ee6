import type { Type } from '@nestjs/common';
import { columnsOf, itemFrom, type RowOf } from './lists/item.js';
import type { PageOf } from './lists/page.js';

/** Converts an entity to an answer: the documented fields of the answer's class, in its order, without null fields. */
export function answerOf<Answer extends object>(answer: Type<Answer>, entity: object): Answer {
  return itemFrom(columnsOf(answer), entity as RowOf<Answer>);
}

export function answersOf<Answer extends object>(
  answer: Type<Answer>,
  { items, ...page }: PageOf<object>,
): PageOf<Answer> {
  const columns = columnsOf(answer);
  return { items: items.map((entity) => itemFrom(columns, entity as RowOf<Answer>)), ...page };
}
