import { Column, Entity, PrimaryColumn } from 'typeorm';

export type GrantState = 'PENDING' | 'GRANTED' | 'FAILED' | 'CANCELLED';

/** One grant of free spins to one player; the migration says what may stand in it. Contract, section 6. */
@Entity({ name: 'free_spin_grants', synchronize: false })
export class Grant {
  /** Counts up: the order of lists. */
  @PrimaryColumn({ name: 'grant_no', type: 'bigint' })
  grantNo: number;

  @Column({ name: 'request_ref', type: 'text' })
  requestRef: string;

  @Column({ type: 'text' })
  state: GrantState;

  @Column({ name: 'operator_id', type: 'text' })
  operatorId: string;

  @Column({ name: 'provider_id', type: 'text' })
  providerId: string;

  @Column({ name: 'player_ref', type: 'text' })
  playerRef: string;

  @Column({ name: 'game_id', type: 'text' })
  gameId: string;

  @Column({ type: 'integer' })
  spins: number;

  /** Minor units; 0: the provider's default stake. */
  @Column({ name: 'bet_amount_minor', type: 'bigint' })
  betAmountMinor: number;

  @Column({ type: 'text' })
  currency: string;

  /** Counts the grant callbacks; whoever records a failure must name the one it sent. */
  @Column({ type: 'integer' })
  attempt: number;

  @Column({ name: 'external_ref', type: 'text', nullable: true })
  externalRef: string | null;

  @Column({ name: 'failure_status', type: 'integer', nullable: true })
  failureStatus: number | null;

  @Column({ name: 'failure_error', type: 'text', nullable: true })
  failureError: string | null;

  /** Whether the provider may have booked what we record as failed. */
  @Column({ name: 'outcome_unknown', type: 'boolean' })
  outcomeUnknown: boolean;

  @Column({ name: 'remaining_spins', type: 'bigint', nullable: true })
  remainingSpins: number | null;

  @Column({ type: 'boolean', nullable: true })
  completed: boolean | null;

  @Column({ name: 'status_checked_at', type: 'timestamptz', nullable: true })
  statusCheckedAt: Date | null;

  @Column({ name: 'last_cancel_error', type: 'text', nullable: true })
  lastCancelError: string | null;

  @Column({ name: 'batch_id', type: 'uuid', nullable: true })
  batchId: string | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Date;

  @Column({ name: 'updated_at', type: 'timestamptz' })
  updatedAt: Date;
}
