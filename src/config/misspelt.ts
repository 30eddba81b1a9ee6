/** An unknown variable that is set, and the one that was probably meant. */
export interface Misspelling {
  readonly name: string;
  readonly meant: string;
}

/**
 * Shortest name that is compared, in characters; shorter ones are close to too many words: `PORT` is one letter from
 * `SORT`.
 */
const SHORTEST_NAME = 8;
/** Largest number of wrong, missing or additional letters. */
const MAX_ERRORS = 2;

/** @param known the names of all known variables */
export function misspeltVariables(environment: object, known: ReadonlySet<string>): Misspelling[] {
  const set = Object.keys(environment);
  const candidates = [...known].filter((name) => name.length >= SHORTEST_NAME && !set.includes(name));
  return set
    .filter((name) => !known.has(name) && name.length >= SHORTEST_NAME - MAX_ERRORS)
    .flatMap((name) => {
      const meant = candidates.find(
        (candidate) => errorsBetween(name.toUpperCase(), candidate) <= MAX_ERRORS,
      );
      return meant === undefined ? [] : [{ name, meant }];
    });
}

/** The Levenshtein distance of two short texts; Infinity if their lengths alone differ by more than `MAX_ERRORS`. */
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
