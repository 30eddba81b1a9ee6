import { getMetadataArgsStorage } from 'typeorm';

/**
 * The columns of an entity as a select list, `t.created_at AS "createdAt", …`. Rows of a named statement then have the
 * entity's fields, and a table is mapped in one place. Columns with `select: false` are left out.
 * @param entity without table inheritance
 * @param alias the alias of the table in the statement
 */
export function selectList(entity: abstract new () => object, alias: string): string {
  return getMetadataArgsStorage()
    .filterColumns(entity)
    .filter(({ options }) => options.select !== false)
    .map(({ propertyName, options: { name, query } }) => {
      const expression = query ? query(alias) : `${alias}.${name ?? propertyName}`;
      return `${expression} AS "${propertyName}"`;
    })
    .join(', ');
}
