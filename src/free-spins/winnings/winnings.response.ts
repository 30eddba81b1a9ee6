import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { columnsOf, type RowOf } from '../../api/lists/item.js';
import { listOf } from '../../api/lists/list.js';

/**
 * Why a person should review a booked WIN. If several flags apply, the first in this order is shown. Contract, section
 * 6.
 *
 * - `UNKNOWN_BATCH`: its freeSpinsRef names no grant of the provider.
 * - `OTHER_PLAYER`, `OTHER_CURRENCY`: its freeSpinsRef names a grant of another player or operator, or in another
 *   currency.
 * - `CANCELLED`: its freeSpinsRef names a grant that was cancelled before the WIN.
 * - `NO_STANDING_BET`: its round has a BET that is ROLLED_BACK, and none that is PENDING, TIMED_OUT or APPROVED. A WIN
 *   of 0 is flagged too: the player lost the round, but the BET was refunded. A tombstone counts as a BET that is
 *   ROLLED_BACK. If the round has no BETs, or only DECLINED ones, the flag does not apply, because the rules accept the
 *   WIN.
 * - `ABOVE_LIMIT`: it was above `maxWinMinor` of its operator when it was booked. Contract, section 9.
 */
export const FLAGS = [
  'UNKNOWN_BATCH',
  'OTHER_PLAYER',
  'OTHER_CURRENCY',
  'CANCELLED',
  'NO_STANDING_BET',
  'ABOVE_LIMIT',
] as const;
type Flag = (typeof FLAGS)[number];

/** A booked WIN that a person should review. */
class FlaggedWinResponse {
  @ApiProperty({ example: 'sandbox-provider' })
  providerId: string;

  @ApiProperty({ example: 'win-1001' })
  transactionId: string;

  @ApiProperty({ example: 'sandbox-operator' })
  operatorId: string;

  @ApiProperty({ example: 'player-42' })
  playerRef: string;

  @ApiProperty({ example: 'sandbox-slots' })
  gameId: string;

  @ApiProperty({ example: 'round-77' })
  roundId: string;

  @ApiPropertyOptional({ example: 'spins-7', description: 'Present if the WIN names one' })
  freeSpinsRef?: string;

  @ApiProperty({ type: 'integer', example: 450, description: 'Minor units' })
  amountMinor: number;

  @ApiProperty({ example: 'EUR' })
  currency: string;

  @ApiProperty({
    enum: FLAGS,
    example: 'NO_STANDING_BET',
    description: 'The first flag that applies, judged by the current state of the grants and the round',
  })
  flag: Flag;

  @ApiProperty({ type: 'string', format: 'date-time' })
  createdAt: Date;
}

export type FlaggedWin = RowOf<FlaggedWinResponse>;

/** What identifies a WIN. */
export type WinKey = Pick<FlaggedWin, 'providerId' | 'transactionId'>;

export const FLAGGED_WIN_COLUMNS = columnsOf(FlaggedWinResponse);

export class FlaggedWinListResponse extends listOf(FlaggedWinResponse) {}
