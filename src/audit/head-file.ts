import { appendFile, open } from 'node:fs/promises';
import type { Witness } from './entry.js';
import { headText, parseHead } from './head.js';

/** Only the service's account needs to read it. */
const MODE = 0o600;

/** Heads of the audit log outside of the database, one per line: `AUDIT_HEAD_FILE`. */
export class HeadFile {
  /** Heads of the last reading. */
  count = 0;
  /** Lines of the last reading that were not a head, such as one truncated by a full disk. */
  unreadableLines = 0;

  constructor(readonly path: string) {}

  /** @throws Error if the line could not be written to the disk */
  async append(head: Witness, at: Date): Promise<void> {
    await appendFile(this.path, `${at.toISOString()} ${headText(head)}\n`, { mode: MODE, flush: true });
  }

  /**
   * All heads, oldest line first.
   * @throws Error if the file cannot be read
   */
  async *heads(): AsyncGenerator<Witness> {
    this.count = 0;
    this.unreadableLines = 0;
    const file = await open(this.path).catch((error: unknown) => {
      throw new Error(`AUDIT_HEAD_FILE: ${(error as Error).message}`, { cause: error });
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
