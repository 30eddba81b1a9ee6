import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { listOf } from '../api/lists/list.js';
import { columnsOf, itemFrom, type RowOf } from '../api/lists/item.js';
import { exactSum } from '../money/money.js';
import { FindingItem } from './finding.js';
import { RECORDED } from './recorded-findings.js';
import { type FindingName, FINDINGS } from './rules/compare.js';

const Count = (description: string, example = 0): PropertyDecorator =>
  ApiProperty({ type: 'integer', minimum: 0, example, description });

/** The number of findings of each name. */
export class FindingCounts implements Record<FindingName, number> {
  @Count('Approved transactions without a line', 1)
  'missing-at-operator': number;

  @Count('Lines that the platform does not know')
  'missing-at-platform': number;

  @Count('Amounts or currencies that differ')
  'amount-differs': number;

  @Count('Other fields that differ')
  'state-differs': number;

  @Count('Transactions that are undecided on the platform')
  unresolved: number;

  @Count('Lines whose id occurred before')
  'duplicate-line': number;

  @Count('Lines whose time cannot be understood')
  'ambiguous-time': number;
}

const EXACT_MINOR_UNITS = 'minor units; absent outside ±(2^53−1)';

/** What both sides have booked in one currency and kind. */
export class BookedSum {
  @ApiProperty({ example: 'EUR' })
  currency: string;

  @ApiProperty({ example: 'BET', description: 'The kind of the transactions' })
  kind: string;

  @ApiPropertyOptional({
    type: 'integer',
    example: 1250,
    description: `According to the statement, in ${EXACT_MINOR_UNITS}`,
  })
  operatorMinor?: number;

  @ApiPropertyOptional({
    type: 'integer',
    example: 1500,
    description: `According to the platform, in ${EXACT_MINOR_UNITS}`,
  })
  platformMinor?: number;
}

/** What a reconciliation with `record=true` did to the attention queue. */
export class RecordedFindings {
  @ApiProperty({ type: 'integer', minimum: 0, example: 1, description: 'Items that were opened' })
  opened: number;

  @ApiProperty({ type: 'integer', minimum: 0, example: 0, description: 'Items that were closed' })
  closed: number;
}

/** A stored reconciliation. */
export class ReconciliationItem {
  @ApiProperty({ format: 'uuid', description: 'The identifier of the reconciliation' })
  reconciliationId: string;

  @ApiProperty({ example: 'sandbox-operator' })
  operatorId: string;

  @ApiProperty({ description: 'The beginning of the range' })
  from: Date;

  @ApiProperty({ description: 'The end of the range, which is not part of it' })
  to: Date;

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    example: 5,
    description: 'Lines of the statement, without its header',
  })
  lines: number;

  @ApiProperty({ type: 'integer', minimum: 0, example: 5, description: 'Lines that the platform knows' })
  matched: number;

  @ApiProperty({ type: FindingCounts, description: 'The number of findings of each name' })
  findings: FindingCounts;

  @ApiProperty({ type: 'integer', minimum: 0, example: 1, description: 'The number of all findings' })
  findingsTotal: number;

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    maximum: RECORDED,
    example: 1,
    description: `The number of findings that can be read: the first ${RECORDED}`,
  })
  findingsStored: number;

  @ApiProperty({ example: false, description: 'Whether there are more findings than are stored' })
  findingsCut: boolean;

  @ApiProperty({ type: [BookedSum], description: 'By currency and kind' })
  sums: BookedSum[];

  @ApiPropertyOptional({ type: RecordedFindings, description: 'Only with `record=true`' })
  recorded?: RecordedFindings;

  @ApiProperty()
  createdAt: Date;

  @ApiProperty({ example: 'key:0b7c3c1e-52a1-4c0b-9d38-6a0f3f6f2d11' })
  by: string;

  @ApiPropertyOptional({ example: 'Finance' })
  byName?: string;
}

export const RECONCILIATION_COLUMNS = columnsOf(ReconciliationItem);

export class ReconciliationListResponse extends listOf(ReconciliationItem) {}

export class ReconciliationResponse extends ReconciliationItem {
  @ApiProperty({ type: [FindingItem], description: 'The first ten findings, in the order of the statement' })
  found: FindingItem[];
}

/**
 * A reconciliation as it is stored. Its sums may exceed 2^53, so they are text. It lacks the names of findings that a later
 * version has added.
 */
export type StoredReconciliation = RowOf<
  Omit<ReconciliationItem, 'findings' | 'findingsTotal' | 'findingsCut' | 'sums'>
> & {
  readonly findings: Partial<FindingCounts>;
  readonly sums: readonly (Pick<BookedSum, 'currency' | 'kind'> & {
    readonly operatorMinor: string;
    readonly platformMinor: string;
  })[];
};

export function reconciliationItem(row: StoredReconciliation): ReconciliationItem {
  const counts = FINDINGS.map((name) => [name, row.findings[name] ?? 0] as const);
  const findingsTotal = counts.reduce((sum, [, count]) => sum + count, 0);
  return itemFrom(RECONCILIATION_COLUMNS, {
    ...row,
    findings: Object.fromEntries(counts) as unknown as FindingCounts,
    findingsTotal,
    findingsCut: row.findingsStored < findingsTotal,
    sums: row.sums.map(({ currency, kind, operatorMinor, platformMinor }) => ({
      currency,
      kind,
      ...exactSum('operatorMinor', BigInt(operatorMinor)),
      ...exactSum('platformMinor', BigInt(platformMinor)),
    })),
  });
}
