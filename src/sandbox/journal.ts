import { open, readFile, type FileHandle } from 'node:fs/promises';

/** Maximum number of records in a journal. The process keeps them in memory; a million take a few hundred megabytes. */
const MAX_RECORDS = 1_000_000;

/**
 * An append-only file of JSON lines. Flushed records survive a `kill -9` and a power cut. Opening the file
 * removes an incomplete last line, because the call that wrote it was not answered.
 */
export class Journal<R> {
  private unwritten: string[] = [];
  /**
   * Resolves when the latest write has ended. Each write begins after the previous one. After a failed write, this
   * promise rejects for good, because no record may follow a gap in the file.
   */
  private written: Promise<void> = Promise.resolve();

  private constructor(
    private readonly file: FileHandle,
    private count: number,
  ) {}

  /**
   * Opens the file, or creates it in an existing folder, and passes each record to `replay`, oldest first.
   * @throws Error with the number of the line, if a line other than the last cannot be read
   */
  static async open<R>(path: string, replay: (record: R) => void): Promise<Journal<R>> {
    const file = await open(path, 'a', 0o600);
    try {
      const bytes = await readFile(path);
      const { records, soundBytes } = parse(bytes, path);
      for (const record of records) replay(record as R);
      if (soundBytes < bytes.length) await file.truncate(soundBytes);
      return new Journal<R>(file, records.length);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /**
   * Queues a record. It is durable when a later `flush()` has resolved.
   * @throws Error if the journal is full
   */
  append(record: R): void {
    if (this.count >= MAX_RECORDS) throw new Error('the sandbox is full: start again with an empty DATA_DIR');
    this.count += 1;
    this.unwritten.push(`${JSON.stringify(record)}\n`);
  }

  /** Writes all appended records, and resolves when they are on the disk. Concurrent callers share one write. */
  flush(): Promise<void> {
    this.written = this.written.then(() => this.write());
    return this.written;
  }

  async close(): Promise<void> {
    try {
      await this.flush();
    } finally {
      await this.file.close();
    }
  }

  private async write(): Promise<void> {
    if (this.unwritten.length === 0) return;
    const lines = this.unwritten.join('');
    this.unwritten = [];
    await this.file.appendFile(lines);
    await this.file.datasync();
  }
}

function parse(bytes: Buffer, path: string): { records: unknown[]; soundBytes: number } {
  const records: unknown[] = [];
  let start = 0;
  for (let end = bytes.indexOf('\n'); end >= 0; end = bytes.indexOf('\n', start)) {
    try {
      records.push(JSON.parse(bytes.toString('utf8', start, end)));
    } catch {
      if (end + 1 === bytes.length) break;
      throw new Error(`${path}: line ${records.length + 1} cannot be read`);
    }
    start = end + 1;
  }
  return { records, soundBytes: start };
}
