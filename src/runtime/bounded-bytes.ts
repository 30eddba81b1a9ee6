/** Smallest average size of the parts of a body that reaches its limit, in bytes: each part takes time to receive. */
const AVERAGE_PART_BYTES = 16;

/**
 * Collects the parts of a body in one buffer. A list of the parts could take hundreds of times their size, because the
 * sender decides how small they are.
 */
export class BoundedBytes {
  private buffer: Buffer = Buffer.alloc(0);
  private length = 0;
  private parts = 0;
  private received = 0;

  constructor(readonly limitBytes: number) {}

  /** The maximum number of parts. */
  get limitParts(): number {
    return this.limitBytes / AVERAGE_PART_BYTES;
  }

  get hasTooManyParts(): boolean {
    return this.parts > this.limitParts;
  }

  /** How many bytes were received, including those beyond the limit, which are dropped. */
  get receivedBytes(): number {
    return this.received;
  }

  /** @returns false once the body exceeds a limit; further parts need not be received */
  add(part: Buffer): boolean {
    this.parts += 1;
    this.received += part.length;
    this.append(part.subarray(0, this.limitBytes - this.length));
    return this.received <= this.limitBytes && !this.hasTooManyParts;
  }

  /** The body as far as it was received, up to the limit. */
  bytes(): Buffer {
    return this.buffer.subarray(0, this.length);
  }

  private append(part: Buffer): void {
    const length = this.length + part.length;
    // Most bodies have one part, which is not copied.
    if (this.length === 0) this.buffer = part;
    else {
      if (length > this.buffer.length) this.grow(length);
      part.copy(this.buffer, this.length);
    }
    this.length = length;
  }

  private grow(length: number): void {
    const grown = Buffer.allocUnsafe(Math.max(length, Math.min(2 * this.buffer.length, this.limitBytes)));
    this.buffer.copy(grown, 0, 0, this.length);
    this.buffer = grown;
  }
}
