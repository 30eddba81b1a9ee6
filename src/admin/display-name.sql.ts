/**
 * The SQL expression for an administrator's display name: the key's name, the token's subject, or `root`. A revoked key
 * keeps its row, and no key is renamed.
 * @param actor an expression for the administrator, as `Actor.actor` has it; if it is null, so is the name
 */
export const displayName = (actor: string) => `
  CASE split_part(${actor}, ':', 1)
       WHEN 'key' THEN (SELECT k.name FROM admin_keys k WHERE k.id = substr(${actor}, 5)::uuid)
       WHEN 'jwt' THEN substr(${actor}, 5)
       ELSE ${actor}
  END`;
