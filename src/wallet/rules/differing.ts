/**
 * The names of the fields that differ, for the message of a refusal. Contract, section 2.
 * @param equal whether the fields are equal, by their names
 */
export function differing(equal: Readonly<Record<string, boolean>>): string[] {
  return Object.keys(equal).filter((name) => !equal[name]);
}
