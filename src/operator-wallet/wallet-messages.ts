import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { DIFFERS_WHERE, REQUIRED_WHERE } from '../api/validation/schema-extensions.js';

/*
 * Requests to an operator's wallet and the wallet's answers. Contract, section 4. `SignedJsonWallet` sends these bodies
 * unchanged, and the OpenAPI documents are generated from these classes.
 */

const notOfAnAdjustment = { [DIFFERS_WHERE]: { ADJUSTMENT: false } };
const signedOfAnAdjustment = { [DIFFERS_WHERE]: { ADJUSTMENT: { minimum: Number.MIN_SAFE_INTEGER } } };
const ofARound = {
  [REQUIRED_WHERE]: { requiredWhere: 'kind', is: ['BET', 'WIN', 'ROLLBACK'] },
  ...notOfAnAdjustment,
};
const ofAWin = { [DIFFERS_WHERE]: { BET: false, ROLLBACK: false, ADJUSTMENT: false } };
const ofARollback = { [REQUIRED_WHERE]: { requiredWhere: 'kind', is: ['ROLLBACK'] }, ...notOfAnAdjustment };

export class WalletTransactionRequest {
  @ApiProperty({
    example: 'bet-1001',
    description: 'Unique for its `providerId`: a transaction that arrives again is booked once',
  })
  readonly transactionId: string;

  @ApiProperty({ example: 'sandbox-provider', description: '`platform` for an ADJUSTMENT' })
  readonly providerId: string;

  @ApiProperty({ enum: ['BET', 'WIN', 'ROLLBACK', 'ADJUSTMENT'], description: 'What moves the money' })
  readonly kind: 'BET' | 'WIN' | 'ROLLBACK' | 'ADJUSTMENT';

  @ApiProperty({ example: 'player-42' })
  readonly playerRef: string;

  @ApiPropertyOptional({ example: 'sandbox-slots', ...ofARound })
  readonly gameId?: string;

  @ApiProperty({ example: 'EUR', pattern: '^[A-Z]{3}$', description: 'ISO 4217' })
  readonly currency: string;

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    ...signedOfAnAdjustment,
    example: 250,
    description:
      'Minor units, at least 0; signed for an ADJUSTMENT only. A ROLLBACK has the amount of its BET; if Croupier does not ' +
      'know the BET, it has the amount that the provider sent, or 0',
  })
  readonly amountMinor: number;

  @ApiPropertyOptional({ example: 'round-7', ...ofARound })
  readonly roundId?: string;

  @ApiPropertyOptional({
    example: false,
    description: 'Whether the provider has declared the round closed',
    ...notOfAnAdjustment,
  })
  readonly roundClosed?: boolean;

  @ApiPropertyOptional({
    example: 'bet-1001',
    description: 'The transaction that a ROLLBACK reverses',
    ...ofARollback,
  })
  readonly originalTransactionId?: string;

  @ApiPropertyOptional({
    example: 'spins-7',
    description: 'For a WIN of free spins: the externalRef of their grant',
    ...notOfAnAdjustment,
  })
  readonly freeSpinsRef?: string;

  @ApiPropertyOptional({
    enum: ['GAME', 'FREE_SPINS', 'JACKPOT', 'PROMOTION', 'TOURNAMENT'],
    example: 'JACKPOT',
    description:
      'Why a WIN is paid, if the provider said so; by default `FREE_SPINS` with a freeSpinsRef, else `GAME`. A `JACKPOT`, ' +
      '`PROMOTION` or `TOURNAMENT` may come without a BET in its round',
    ...ofAWin,
  })
  readonly winKind?: 'GAME' | 'FREE_SPINS' | 'JACKPOT' | 'PROMOTION' | 'TOURNAMENT';

  @ApiPropertyOptional({
    example: 'summer-race-3',
    description: "The provider's identifier of the promotion in which a WIN was won, if the provider sent it",
    ...ofAWin,
  })
  readonly promotionRef?: string;
}

export class WalletTransactionResponse {
  @ApiProperty({
    example: 'bet-1001',
    description:
      'The `transactionId` of the request. An answer that names another one, or none, is no answer: a connection can ' +
      'deliver the answer to another call',
  })
  readonly transactionId: string;

  @ApiProperty({ enum: ['APPROVED', 'DECLINED'] })
  readonly status: 'APPROVED' | 'DECLINED';

  @ApiProperty({
    type: 'integer',
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
    example: 99750,
    description: 'Minor units, after the transaction; it may be negative',
  })
  readonly balance: number;

  @ApiPropertyOptional({
    example: 'INSUFFICIENT_FUNDS',
    description:
      'Why it is DECLINED: `INSUFFICIENT_FUNDS`, `PLAYER_BLOCKED`, `LIMIT_REACHED`, `STAKE_ABOVE_LIMIT`, ' +
      '`TRANSACTION_ROLLED_BACK`, `ROUND_ALREADY_SETTLED`, `NOT_ROLLBACKABLE` or words of your own, which the provider sees as `OTHER`',
  })
  readonly reason?: string;

  @ApiPropertyOptional({
    example: 'w-88121',
    minLength: 1,
    maxLength: 200,
    description: 'Your id of the transaction, for support',
  })
  readonly operatorTransactionId?: string;
}

export class WalletBalanceRequest {
  @ApiProperty({ example: 'player-42' })
  readonly playerRef: string;

  @ApiProperty({ example: 'EUR', pattern: '^[A-Z]{3}$', description: 'ISO 4217' })
  readonly currency: string;
}

/** The balance, with the player and the currency of the request: an answer that names others, or none, is no answer. */
export class WalletBalanceResponse {
  @ApiProperty({ example: 'player-42', description: 'The `playerRef` of the request' })
  readonly playerRef: string;

  @ApiProperty({ example: 'EUR', description: 'The `currency` of the request' })
  readonly currency: string;

  @ApiProperty({
    type: 'integer',
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
    example: 99750,
    description: 'Minor units; it may be negative',
  })
  readonly balance: number;
}
