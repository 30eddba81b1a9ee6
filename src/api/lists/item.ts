import type { Columns } from './list.js';

/** A row with the fields of an item, in which a missing value is null. */
export type RowOf<Item> = {
  readonly [Field in keyof Item]-?: Item[Field] | (undefined extends Item[Field] ? null : never);
};

/** The item of a row: the fields that are columns of its list, without those that are null. */
export function itemFrom<Item extends object>(columns: Columns<Item>, row: RowOf<Item>): Item {
  const fields = Object.keys(columns) as (keyof Item)[];
  return Object.fromEntries(
    fields.filter((field) => row[field] !== null).map((field) => [field, row[field]]),
  ) as Item;
}
