import type { Type } from '@nestjs/common';
import { Expose, plainToInstance, Transform } from 'class-transformer';
import type { PageOf } from './lists/page.js';

export function ExposeUnlessNull(): PropertyDecorator {
  const expose = Expose();
  const leaveOutNull = Transform(({ value }: { value: unknown }) => value ?? undefined);
  return (target, property) => {
    expose(target, property);
    leaveOutNull(target, property);
  };
}

/** Converts an entity to an answer, with only the fields that the answer's class exposes, in the class's order. */
export function answerOf<Answer extends object>(answer: Type<Answer>, entity: object): Answer {
  return plainToInstance(answer, entity, { excludeExtraneousValues: true, exposeUnsetFields: false });
}

export function answersOf<Answer extends object>(
  answer: Type<Answer>,
  { items, ...page }: PageOf<object>,
): PageOf<Answer> {
  return { items: items.map((entity) => answerOf(answer, entity)), ...page };
}
