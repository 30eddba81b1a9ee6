/** An unknown variable, and the known one that was probably meant. */
export interface Misspelling {
  readonly name: string;
  readonly meant: string;
}

/**
 * Minimum length of a known name that is compared, in characters. A shorter name is similar to too many words: `PORT`
 * differs from `SORT` by one letter.
 */
const SHORTEST_NAME = 8;
/** Maximum number of wrong, missing or additional characters in a misspelling. */
const MAX_ERRORS = 2;
/** The unit at the end of a name, which may be missing, as in `SESSION_TTL`, or be another one. */
const UNIT = /_(MS|SECONDS|MINOR)$/;

export function misspeltVariables(environment: object, known: ReadonlySet<string>): Misspelling[] {
  const set = Object.keys(environment);
  const candidates = [...known].filter((name) => name.length >= SHORTEST_NAME && !set.includes(name));
  return set
    .filter((name) => !known.has(name) && name.length >= SHORTEST_NAME - MAX_ERRORS)
    .flatMap((name) => {
      const meant = candidates.find((candidate) => resembles(name.toUpperCase(), candidate));
      return meant === undefined ? [] : [{ name, meant }];
    });
}

function resembles(name: string, candidate: string): boolean {
  return (
    errorsBetween(name, candidate) <= MAX_ERRORS ||
    errorsBetween(name.replace(UNIT, ''), candidate.replace(UNIT, '')) <= MAX_ERRORS
  );
}

/** The Levenshtein distance of two short texts; Infinity if their lengths differ by more than `MAX_ERRORS`. */
function errorsBetween(left: string, right: string): number {
  if (Math.abs(left.length - right.length) > MAX_ERRORS) return Infinity;
  let row = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let line = 1; line <= left.length; line += 1) {
    const next = [line];
    for (let column = 1; column <= right.length; column += 1) {
      const substituted = row[column - 1]! + (left[line - 1] === right[column - 1] ? 0 : 1);
      next.push(Math.min(substituted, row[column]! + 1, next[column - 1]! + 1));
    }
    row = next;
  }
  return row[right.length]!;
}
