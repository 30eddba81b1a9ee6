import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Columns } from '../../api/lists/list.js';
import { type Flag, type FlaggedWin, FLAGS } from './winnings.store.js';

/** A booked WIN that a person should review. */
export class FlaggedWinResponse {
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

  @ApiProperty({ format: 'date-time' })
  createdAt: string;
}

export const FLAGGED_WIN_COLUMNS: Columns<FlaggedWinResponse> = {
  providerId: true,
  transactionId: true,
  operatorId: true,
  playerRef: true,
  gameId: true,
  roundId: true,
  freeSpinsRef: true,
  amountMinor: true,
  currency: true,
  flag: true,
  createdAt: true,
};

export class FlaggedWinListResponse {
  @ApiProperty({ type: [FlaggedWinResponse] })
  items: FlaggedWinResponse[];

  @ApiPropertyOptional()
  nextCursor?: string;
}

export function flaggedWinResponse(win: FlaggedWin): FlaggedWinResponse {
  return {
    providerId: win.providerId,
    transactionId: win.transactionId,
    operatorId: win.operatorId,
    playerRef: win.playerRef,
    gameId: win.gameId,
    roundId: win.roundId,
    ...(win.freeSpinsRef !== null && { freeSpinsRef: win.freeSpinsRef }),
    amountMinor: win.amountMinor,
    currency: win.currency,
    flag: win.flag,
    createdAt: win.createdAt.toISOString(),
  };
}
