import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CsvNumber, csvRecord } from '../api/lists/csv.js';
import { majorUnits } from '../money/money.js';
import { Randomness } from '../runtime/randomness.js';
import type { Finding, OperatorLine, ComparedPair, PlatformRecord } from './rules/compare.js';

/** The columns. The operator's and the platform's value of a field are adjacent; amounts are also in major units. */
const COLUMNS = [
  'finding',
  'detail',
  'providerId',
  'transactionId',
  'statementLine',
  'operatorKind',
  'platformKind',
  'operatorStatus',
  'platformState',
  'operatorAmountMinor',
  'operatorAmount',
  'platformAmountMinor',
  'platformAmount',
  'operatorCurrency',
  'platformCurrency',
  'operatorPlayerRef',
  'platformPlayerRef',
  'operatorOriginalTransactionId',
  'platformOriginalTransactionId',
  'operatorBookedAt',
  'platformCreatedAt',
];

/**
 * The amount of one side, in minor and in major units. Both are empty if the side is missing; major units are also
 * empty if the currency is unknown.
 */
function amountsOf(side: OperatorLine | PlatformRecord | null): (number | CsvNumber | undefined)[] {
  if (!side) return [undefined, undefined];
  const amount = majorUnits(side.amountMinor, side.currency);
  return [side.amountMinor, amount === undefined ? undefined : new CsvNumber(amount)];
}

/** Number of characters that are buffered before they are written. */
const BUFFERED_CHARACTERS = 65_536;

/** A CSV file of findings. It has a temporary name until it is complete. */
export class Report {
  private buffered = csvRecord(COLUMNS);

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
    const suffix = new Randomness().bytes(6).toString('hex');
    const unfinished = join(dirname(path), `.${basename(path)}.${suffix}.unfinished`);
    return new Report(path, unfinished, await open(unfinished, 'wx'));
  }

  async add(finding: Finding, { line, record }: ComparedPair): Promise<void> {
    const id = line ?? record;
    this.buffered += csvRecord([
      finding.name,
      finding.detail,
      id?.providerId,
      id?.transactionId,
      line?.line,
      line?.kind,
      record?.kind,
      line?.status,
      record?.state,
      ...amountsOf(line),
      ...amountsOf(record),
      line?.currency,
      record?.currency,
      line?.playerRef,
      record?.playerRef,
      line?.originalTransactionId,
      record?.originalTransactionId,
      line?.bookedAt,
      record?.createdAt,
    ]);
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
    await this.file.write(this.buffered);
    this.buffered = '';
  }
}
