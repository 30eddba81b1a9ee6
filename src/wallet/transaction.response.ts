import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { DECLINE_REASONS } from './rules/decision.js';

/** Contract, section 3, "Transaction answer". */
export class TransactionResponse {
  @ApiProperty({ example: 'bet-1001' })
  transactionId: string;
  @ApiProperty({ format: 'uuid' })
  platformTransactionId: string;
  @ApiProperty({ enum: ['APPROVED', 'DECLINED'] })
  status: 'APPROVED' | 'DECLINED';
  @ApiProperty({
    type: 'integer',
    example: 99750,
    description: 'Minor units, as the operator reported it when the transaction was decided',
  })
  balance: number;
  @ApiProperty({ example: 'EUR' })
  currency: string;
  @ApiPropertyOptional({ enum: DECLINE_REASONS })
  declineReason?: string;
}

export class BalanceResponse {
  @ApiProperty({ type: 'integer', example: 99750, description: 'Minor units' })
  balance: number;
}

const DECIDED = { platformTransactionId: '0b7c3c1e-52a1-4c0b-9d38-6a0f3f6f2d11', currency: 'EUR' };

export const TRANSACTION_RESPONSES = {
  APPROVED: {
    summary: 'The operator booked it',
    value: { transactionId: 'bet-1001', ...DECIDED, status: 'APPROVED', balance: 99750 },
  },
  DECLINED: {
    summary: 'A business outcome, not an error',
    value: {
      transactionId: 'bet-1001',
      ...DECIDED,
      status: 'DECLINED',
      balance: 100,
      declineReason: 'INSUFFICIENT_FUNDS',
    },
  },
};
