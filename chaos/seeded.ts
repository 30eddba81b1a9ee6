/** A generator of random numbers (SFC32) that repeats its sequence for the same seed. */
export class Seeded {
  private a = 0;
  private b = 0;
  private c = 0;
  private counter = 1;

  /** @param seed any 32-bit number; `stream` makes independent sequences of one seed */
  constructor(seed: number, stream = 0) {
    this.a = seed | 0;
    this.b = stream | 0;
    this.c = 0x9e3779b9 | 0;
    for (let warmUp = 0; warmUp < 12; warmUp += 1) this.bits();
  }

  /** An integer from 0 to `below` - 1. */
  below(below: number): number {
    return Math.floor(this.fraction() * below);
  }

  /** From `least` to below `most`. */
  between(least: number, most: number): number {
    return least + this.fraction() * (most - least);
  }

  /** Returns true with this probability, 0 … 1. */
  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  /** 0 … 1, 1 excluded. */
  fraction(): number {
    return this.bits() / 0x1_0000_0000;
  }

  uuid(): string {
    const digits = () => this.bits().toString(16).padStart(8, '0');
    const [first, second, third, fourth] = [digits(), digits(), digits(), digits()] as const;
    return `${first}-${second.slice(0, 4)}-4${second.slice(5)}-a${third.slice(1, 4)}-${third.slice(4)}${fourth}`;
  }

  private bits(): number {
    const sum = (this.a + this.b + this.counter) | 0;
    this.counter = (this.counter + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = ((this.c << 21) | (this.c >>> 11)) + sum;
    this.c |= 0;
    return sum >>> 0;
  }
}

/** A 32-bit digest of some words: FNV-1a, then mixed so that similar words differ in all bits. */
export function digest(...words: readonly (string | number)[]): number {
  let hash = 0x811c9dc5;
  for (const character of words.join('\n')) {
    hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
