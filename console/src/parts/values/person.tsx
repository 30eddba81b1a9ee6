interface PersonProps {
  /** The key's name or the token's subject; without it, the id is shown. */
  readonly name: string | undefined;
  /** As in the audit log. */
  readonly id: string | undefined;
}

/** Who did something: the name, with the id in its title. */
export function Person({ name, id }: PersonProps) {
  return <span title={id}>{name ?? id}</span>;
}
