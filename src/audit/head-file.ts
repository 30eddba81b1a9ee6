import { appendFile, open } from 'node:fs/promises';
import { failureText } from '../runtime/failure-text.js';
import { headText, parseHead, type Witness } from './entry.js';

/** Only the service's account may read and write the file. */
const MODE = 0o600;

/** `AUDIT_HEAD_FILE`: keeps heads of the audit log outside of the database. Each line has a time and a head. */
export class HeadFile {
  /** Number of heads that the last call of `heads` has read. */
  count = 0;
  /** Number of lines that the last call of `heads` could not parse, such as a line truncated by a full disk. */
  unreadableLines = 0;

  constructor(readonly path: string) {}

  /** @throws Error if the line could not be written to the disk */
  async append(head: Witness, at: Date): Promise<void> {
    await appendFile(this.path, `${at.toISOString()} ${headText(head)}\n`, { mode: MODE, flush: true });
  }

  /**
   * Creates the file if it is missing.
   * @throws Error if the file cannot be written
   */
  async prepare(): Promise<void> {
    await appendFile(this.path, '', { mode: MODE });
  }

  /**
   * Reads all heads, oldest line first.
   * @throws Error if the file cannot be read
   */
  async *heads(): AsyncGenerator<Witness> {
    this.count = 0;
    this.unreadableLines = 0;
    const file = await open(this.path).catch((error: unknown) => {
      throw new Error(`AUDIT_HEAD_FILE: ${failureText(error)}`, { cause: error });
    });
    try {
      for await (const line of file.readLines()) {
        const head = parseHead(line.slice(line.lastIndexOf(' ') + 1));
        if (head) this.count += 1;
        else this.unreadableLines += 1;
        if (head) yield head;
      }
    } finally {
      await file.close();
    }
  }
}
