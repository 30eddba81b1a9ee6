/** A planted mistake in an SQL statement, which the tests must notice. */
export interface SqlMutant {
  readonly name: string;
  /** The source that has the statement, from the project's folder. */
  readonly file: string;
  /** The text that is replaced: it occurs exactly once in the source. */
  readonly text: string;
  readonly replacement: string;
  /** The test files of which at least one must fail, from the project's folder. */
  readonly tests: readonly string[];
  /** What would go wrong. */
  readonly harm: string;
}

/**
 * The source with the mistake.
 * @throws Error if the text that is replaced does not occur exactly once
 */
export function mutated({ name, file, text, replacement }: SqlMutant, source: string): string {
  const [before, after, ...more] = source.split(text);
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(`${name}: its text must occur exactly once in ${file}`);
  }
  return before + replacement + after;
}
