import { digestOf, type Mistake, type Signing, type Variant } from './signing.js';

/** An explanation of a signature. */
export interface Explanation {
  mistakes: readonly Mistake[];
  signing: Signing;
}

interface SearchResult {
  explanation: Explanation | undefined;
  /** Number of ways to sign that were tried. */
  tried: number;
}

/**
 * Bounds the search: about two seconds on a quiet machine. Each candidate costs one unit, and one more for each KiB
 * that it signs.
 */
const BUDGET = 300_000;

/**
 * Finds the most likely way to sign that yields this signature. Tries single variants, then pairs of variants from
 * different dimensions; in both steps, likelier ones come first.
 * @param dimensions the variants of each kind of mistake; variants of equal rank are tried in this order
 * @param sent the bytes of the signature; fewer than those of the digest if it was cut
 */
export function explain(
  right: Signing,
  dimensions: readonly (readonly Variant[])[],
  sent: Buffer,
): SearchResult {
  const search = new Search(right, sent);
  return { explanation: search.single(dimensions) ?? search.pair(dimensions), tried: search.tried };
}

class Search {
  tried = 0;
  private spent = 0;

  constructor(
    private readonly right: Signing,
    private readonly sent: Buffer,
  ) {}

  single(dimensions: readonly (readonly Variant[])[]): Explanation | undefined {
    if (this.fits(this.right)) return { mistakes: [], signing: this.right };
    for (const rank of [1, 2, 3]) {
      for (const variants of dimensions) {
        for (const one of variants) {
          if (one.rank !== rank) continue;
          if (this.spent > BUDGET) return undefined;
          if (this.tries(one.change)) return this.explanation(one);
        }
      }
    }
    return undefined;
  }

  pair(dimensions: readonly (readonly Variant[])[]): Explanation | undefined {
    for (const ranks of [
      [1, 1],
      [1, 2],
      [2, 1],
      [2, 2],
    ]) {
      for (const [index, firsts] of dimensions.entries()) {
        for (const seconds of dimensions.slice(index + 1)) {
          for (const first of firsts) {
            if (first.rank !== ranks[0]) continue;
            for (const second of seconds) {
              if (second.rank !== ranks[1]) continue;
              if (this.spent > BUDGET) return undefined;
              if (this.tries({ ...first.change, ...second.change })) return this.explanation(first, second);
            }
          }
        }
      }
    }
    return undefined;
  }

  private tries(change: Partial<Signing>): boolean {
    return this.fits({ ...this.right, ...change });
  }

  private fits(signing: Signing): boolean {
    this.tried += 1;
    this.spent += 1 + (signing.body.length >> 10);
    return digestOf(signing).subarray(0, this.sent.length).equals(this.sent);
  }

  private explanation(...variants: readonly Variant[]): Explanation {
    return {
      mistakes: variants.flatMap(({ mistakes }) => mistakes),
      signing: Object.assign({}, this.right, ...variants.map(({ change }) => change)) as Signing,
    };
  }
}
