import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { csvHeader, csvItem } from '../api/lists/list.js';
import { unfinishedPath } from '../runtime/unfinished-path.js';
import { FINDING_COLUMNS, type FindingItem } from './finding.js';

/** Number of characters that are buffered before they are written. */
const BUFFERED_CHARACTERS = 65_536;

/** A CSV file of findings. It has a temporary name until it is complete. */
export class Report {
  private buffered = csvHeader(FINDING_COLUMNS);

  private constructor(
    private readonly path: string,
    private readonly unfinished: string,
    private readonly file: FileHandle,
  ) {}

  /**
   * Creates the file under its temporary name, in the folder of `path`.
   * @throws Error if the folder is not writable
   */
  static async begin(path: string): Promise<Report> {
    const unfinished = unfinishedPath(path);
    return new Report(path, unfinished, await open(unfinished, 'wx'));
  }

  async add(finding: FindingItem): Promise<void> {
    this.buffered += csvItem(FINDING_COLUMNS, finding);
    if (this.buffered.length >= BUFFERED_CHARACTERS) await this.flush();
  }

  /** Completes the file and renames it to `path` atomically, replacing an existing file. */
  async finish(): Promise<void> {
    await this.flush();
    await this.file.sync();
    await this.file.close();
    await rename(this.unfinished, this.path);
  }

  async discard(): Promise<void> {
    await this.file.close().catch(() => undefined);
    await unlink(this.unfinished).catch(() => undefined);
  }

  private async flush(): Promise<void> {
    // Unlike `write`, which may write only the beginning when the disk is full, this writes all or fails.
    await this.file.appendFile(this.buffered);
    this.buffered = '';
  }
}
