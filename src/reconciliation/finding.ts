import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { columnsOf, present, type RowOf } from '../api/lists/item.js';
import { listOf } from '../api/lists/list.js';
import { visible } from '../runtime/visible.js';
import { type ComparedPair, type Finding, type FindingName, FINDINGS } from './rules/compare.js';

/**
 * A finding with the values of both sides. The operator's and the platform's value of a field are adjacent. Texts of the
 * statement are `visible`.
 */
export class FindingItem {
  @ApiProperty({ enum: FINDINGS, example: 'amount-differs', description: 'What was found' })
  finding: FindingName;

  @ApiProperty({
    example: 'amountMinor differs: 3.50 EUR at the operator, 2.50 EUR on the platform',
    description: 'What differs, in words for people',
  })
  detail: string;

  @ApiProperty({ example: 'sandbox-provider' })
  providerId: string;

  @ApiProperty({ example: 'bet-1001' })
  transactionId: string;

  @ApiPropertyOptional({
    type: 'integer',
    example: 2,
    description: 'The line of the statement, from 1, which is the header',
  })
  statementLine?: number;

  @ApiPropertyOptional({ example: 'BET', description: "The statement's kind" })
  operatorKind?: string;

  @ApiPropertyOptional({ example: 'BET', description: "The platform's kind" })
  platformKind?: string;

  @ApiPropertyOptional({ example: 'APPROVED', description: "The statement's status" })
  operatorStatus?: string;

  @ApiPropertyOptional({ example: 'APPROVED', description: "The platform's state" })
  platformState?: string;

  @ApiPropertyOptional({
    type: 'integer',
    example: 350,
    description: "The statement's amount, in minor units",
  })
  operatorAmountMinor?: number;

  @ApiPropertyOptional({
    type: 'integer',
    example: 250,
    description: "The platform's amount, in minor units",
  })
  platformAmountMinor?: number;

  @ApiPropertyOptional({ example: 'EUR', description: "The statement's currency" })
  operatorCurrency?: string;

  @ApiPropertyOptional({ example: 'EUR', description: "The platform's currency" })
  platformCurrency?: string;

  @ApiPropertyOptional({ example: 'player-42', description: "The statement's player" })
  operatorPlayerRef?: string;

  @ApiPropertyOptional({ example: 'player-42', description: "The platform's player" })
  platformPlayerRef?: string;

  @ApiPropertyOptional({ description: 'The target of a ROLLBACK, in the statement' })
  operatorOriginalTransactionId?: string;

  @ApiPropertyOptional({ description: 'The target of a ROLLBACK, on the platform' })
  platformOriginalTransactionId?: string;

  @ApiPropertyOptional({ example: '2026-03-01T10:00:00Z', description: 'As it stands in the statement' })
  operatorBookedAt?: string;

  @ApiPropertyOptional({ description: 'When the platform created the transaction' })
  platformCreatedAt?: Date;
}

export const FINDING_COLUMNS = columnsOf(FindingItem);

export class FindingListResponse extends listOf(FindingItem) {}

/** A finding with the two sides that it compares, one of which may be missing. */
export function findingItem({ name, detail }: Finding, { line, record }: ComparedPair): FindingItem {
  const text = (value: string | undefined) => (value === undefined ? null : visible(value));
  // A finding has at least one of the two sides.
  const { providerId, transactionId } = (line ?? record)!;
  const row: RowOf<FindingItem> = {
    finding: name,
    detail,
    providerId: visible(providerId),
    transactionId: visible(transactionId),
    statementLine: line?.line ?? null,
    operatorKind: line?.kind ?? null,
    platformKind: record?.kind ?? null,
    operatorStatus: line?.status ?? null,
    platformState: record?.state ?? null,
    operatorAmountMinor: line?.amountMinor ?? null,
    platformAmountMinor: record?.amountMinor ?? null,
    operatorCurrency: text(line?.currency),
    platformCurrency: record?.currency ?? null,
    operatorPlayerRef: text(line?.playerRef),
    platformPlayerRef: record?.playerRef ?? null,
    operatorOriginalTransactionId: text(line?.originalTransactionId || undefined),
    platformOriginalTransactionId: record?.originalTransactionId ?? null,
    operatorBookedAt: text(line?.bookedAt),
    platformCreatedAt: record?.createdAt ?? null,
  };
  return present<FindingItem>(row);
}
