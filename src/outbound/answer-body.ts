/** Maximum number of bytes of a counterpart's answer that are read. Contract, section 6. */
export const ANSWER_LIMIT_BYTES = 64 * 1024;

/** Some servers put it before their JSON, where RFC 8259 allows a reader to ignore it. */
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/** Collects the body of an answer as it arrives, up to a limit. */
export class AnswerBody {
  private readonly chunks: Buffer[] = [];
  private size = 0;

  constructor(private readonly limitBytes = ANSWER_LIMIT_BYTES) {}

  /**
   * Adds a part of the body.
   * @returns false once the body exceeds the limit; bytes beyond the limit are dropped and need not be read
   */
  add(chunk: Buffer): boolean {
    const room = this.limitBytes - this.size;
    if (room > 0) this.chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
    this.size += chunk.length;
    return this.size <= this.limitBytes;
  }

  /** The body as far as it was read, without a UTF-8 byte order mark. */
  bytes(): Buffer {
    const body = Buffer.concat(this.chunks);
    return body.indexOf(BYTE_ORDER_MARK) === 0 ? body.subarray(BYTE_ORDER_MARK.length) : body;
  }
}
