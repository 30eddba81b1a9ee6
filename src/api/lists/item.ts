import type { Type } from '@nestjs/common';
import { DECORATORS } from '@nestjs/swagger';
import type { Columns } from './list.js';

/** The columns of a list: the documented fields of its items, in the order of the class. */
export function columnsOf<Item extends object>(item: Type<Item>): Columns<Item> {
  const fields = Reflect.getMetadata(
    DECORATORS.API_MODEL_PROPERTIES_ARRAY,
    item.prototype as object,
  ) as string[];
  // Swagger stores a colon before each name.
  return Object.fromEntries(fields.map((field) => [field.slice(1), true])) as Columns<Item>;
}

/** A row with the fields of an item, in which a missing value is null. */
export type RowOf<Item> = {
  readonly [Field in keyof Item]-?: Item[Field] | (undefined extends Item[Field] ? null : never);
};

/** Removes the null fields of a row, because answers omit them. */
export function present<Item extends object>(row: RowOf<Item>): Item {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Item;
}

/** The item of a row: the fields that are columns of its list, without those that are null. */
export function itemFrom<Item extends object>(columns: Columns<Item>, row: RowOf<Item>): Item {
  const fields = Object.keys(columns) as (keyof Item)[];
  return present<Item>(Object.fromEntries(fields.map((field) => [field, row[field]])) as RowOf<Item>);
}
