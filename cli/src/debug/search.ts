import type { SpeltSignature } from './signature-spelling.js';
import { binaryDigestOf, type Mistake, type Rank, type Signing, type Variant } from './signing.js';

/** An explanation of a signature. */
export interface Explanation {
  mistakes: readonly Mistake[];
  /** Other mistakes that lead to the same signature, so that the bytes do not tell which were made. */
  alternatives: readonly (readonly Mistake[])[];
  signing: Signing;
  /** How the text of `X-Signature` was read. */
  reading: SpeltSignature;
}

interface SearchResult {
  explanation: Explanation | undefined;
  /** Number of ways to sign that were tried. */
  tried: number;
  /** What was left out for lack of time; empty if a signature was explained. */
  untried: readonly string[];
}

/** Bounds the time of a search, and shows its progress. */
export interface SearchLimits {
  /** Time that was used, in milliseconds, from any start. */
  usedMs: () => number;
  /** The value of `usedMs` at which the search ends. */
  deadlineMs: number;
  onProgress?: ((tried: number) => void) | undefined;
}

/** A part of the search: combinations of variants, each of which is tried together. */
export interface Phase {
  name: string;
  candidates: Iterable<readonly Variant[]>;
}

/** The time is checked after this many signed bytes, so that large bodies are checked more often. */
const BYTES_BETWEEN_CHECKS = 512 * 1024;
/** The cost of a candidate in bytes, in addition to those that it signs. */
const BYTES_PER_CANDIDATE = 256;

/**
 * Finds the most likely way to sign that yields this signature. Likelier combinations come first.
 * @param phases each one is begun when all candidates of the one before were tried
 * @param readings the ways to read the text of `X-Signature`; the bytes are fewer than those of the digest if it was cut
 */
export function explain(
  right: Signing,
  phases: readonly Phase[],
  readings: readonly SpeltSignature[],
  limits: SearchLimits,
): SearchResult {
  return new Search(right, readings, limits).through(phases);
}

class Search {
  private tried = 0;
  private bytes = 0;
  /** The bytes of each reading, one character for each. */
  private readonly sent: readonly string[];

  constructor(
    private readonly right: Signing,
    private readonly readings: readonly SpeltSignature[],
    private readonly limits: SearchLimits,
  ) {
    this.sent = readings.map(({ bytes }) => bytes.toString('latin1'));
  }

  through(phases: readonly Phase[]): SearchResult {
    for (const [index, { candidates }] of phases.entries()) {
      const found: { variants: readonly Variant[]; reading: SpeltSignature }[] = [];
      for (const variants of candidates) {
        const reading = this.readingThatFits(variants);
        if (reading) found.push({ variants, reading });
        if (reading && variants.length !== 1) break;
        // A single mistake is compared with others that are as likely. Pairs are too many.
        const rank = found[0]?.variants[0]?.rank ?? 3;
        if (found.length > 0 && (variants[0]?.rank ?? 0) > Math.max(rank, 2)) break;
        if (this.isOutOfTime()) break;
      }
      const [first, ...others] = found;
      if (first) {
        const explanation = this.explanation(first.variants, first.reading, others);
        return { explanation, tried: this.tried, untried: [] };
      }
      if (this.isOutOfTime(true)) {
        return {
          explanation: undefined,
          tried: this.tried,
          untried: phases.slice(index).map(({ name }) => name),
        };
      }
    }
    return { explanation: undefined, tried: this.tried, untried: [] };
  }

  private readingThatFits(variants: readonly Variant[]): SpeltSignature | undefined {
    const signing = changed(this.right, variants);
    this.tried += 1;
    this.bytes += BYTES_PER_CANDIDATE + signing.body.length;
    const digest = binaryDigestOf(signing);
    const at = this.sent.findIndex((binary) => digest.startsWith(binary));
    return at < 0 ? undefined : this.readings[at];
  }

  private isOutOfTime(now = false): boolean {
    if (!now && this.bytes < BYTES_BETWEEN_CHECKS) return false;
    this.bytes = 0;
    this.limits.onProgress?.(this.tried);
    return this.limits.usedMs() >= this.limits.deadlineMs;
  }

  private explanation(
    variants: readonly Variant[],
    reading: SpeltSignature,
    others: readonly { variants: readonly Variant[] }[],
  ): Explanation {
    const mistakes = variants.flatMap((each) => each.mistakes);
    const all = [...sameChange(variants), ...others.flatMap((other) => sameChange(other.variants))];
    const alternatives = new Map(all.map((each) => [codesOf(each), each]));
    alternatives.delete(codesOf(mistakes));
    return {
      mistakes,
      alternatives: [...alternatives.values()],
      signing: changed(this.right, variants),
      reading,
    };
  }
}

function changed(right: Signing, variants: readonly Variant[]): Signing {
  const [first, second] = variants;
  return { ...right, ...first?.change, ...second?.change };
}

function codesOf(mistakes: readonly Mistake[]): string {
  return mistakes
    .map(({ code }) => code)
    .sort()
    .join();
}

/** The mistakes of these variants, with each choice among those that lead to the same change. */
function sameChange(variants: readonly Variant[]): Mistake[][] {
  return variants.reduce<Mistake[][]>(
    (combined, { mistakes, alternatives = [] }) =>
      combined.flatMap((before) => [mistakes, ...alternatives].map((each) => [...before, ...each])),
    [[]],
  );
}

/** The signature as it should be, then each variant on its own, the likeliest first. */
export function* singleVariants(dimensions: readonly (readonly Variant[])[]): Iterable<Variant[]> {
  yield [];
  for (const rank of [1, 2, 3]) {
    for (const variants of dimensions) {
      for (const variant of variants) if (variant.rank === rank) yield [variant];
    }
  }
}

/** Pairs of variants from different dimensions: one of the first rank, the other of the second. */
export function* pairsOfVariants(
  dimensions: readonly (readonly Variant[])[],
  [one, other]: readonly [Rank, Rank],
): Iterable<Variant[]> {
  const ofRank = (rank: Rank) => dimensions.map((variants) => variants.filter((each) => each.rank === rank));
  const [ones, others] = [ofRank(one), ofRank(other)];
  for (const [index, firsts] of ones.entries()) {
    for (const [otherIndex, seconds] of others.entries()) {
      if (index === otherIndex || (one === other && index > otherIndex)) continue;
      for (const first of firsts) for (const second of seconds) yield [first, second];
    }
  }
}

/**
 * Removes variants that change nothing, and joins those that lead to the same change: the first keeps the mistakes of
 * the others as alternatives.
 */
export function distinct(variants: readonly Variant[], right: Signing): Variant[] {
  const byChange = new Map<string, Variant>();
  for (const variant of variants.toSorted((a, b) => a.rank - b.rank)) {
    const entries = Object.entries(variant.change) as [keyof Signing, Signing[keyof Signing]][];
    if (entries.every(([part, value]) => textOf(value) === textOf(right[part]))) continue;
    const key = entries.map(([part, value]) => `${part} ${textOf(value)}`).join();
    const first = byChange.get(key);
    if (!first) {
      byChange.set(key, variant);
    } else if (codesOf(first.mistakes) !== codesOf(variant.mistakes)) {
      byChange.set(key, { ...first, alternatives: [...(first.alternatives ?? []), variant.mistakes] });
    }
  }
  return [...byChange.values()];
}

/** The value of a part that is text or bytes. */
function textOf(value: Signing[keyof Signing]): string {
  if (typeof value === 'string') return value;
  return Buffer.isBuffer(value) ? value.toString('latin1') : '';
}
