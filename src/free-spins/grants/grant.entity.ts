import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { bigInteger, flag, instant, integer, nullable, text, uuid } from '../../database/columns.js';

export type GrantState = 'PENDING' | 'GRANTED' | 'FAILED' | 'CANCELLED';

/**
 * A grant of free spins to one player. Contract, section 6. Leases and `granted_at` are not part of the entity: SQL
 * writes and judges them by the database's clock.
 */
@Entity({ name: 'free_spin_grants', synchronize: false })
export class Grant {
  /** Ascending in the order of insertion; determines the order of lists. */
  @PrimaryGeneratedColumn('identity', { name: 'grant_no', type: 'bigint', generatedIdentity: 'ALWAYS' })
  grantNo: number;

  @Column(text('request_ref'))
  requestRef: string;

  @Column(text('state'))
  state: GrantState;

  @Column(text('operator_id'))
  operatorId: string;

  @Column(text('provider_id'))
  providerId: string;

  @Column(text('player_ref'))
  playerRef: string;

  @Column(text('game_id'))
  gameId: string;

  @Column(integer('spins'))
  spins: number;

  /** Minor units; 0 means the provider's default stake. */
  @Column(bigInteger('bet_amount_minor'))
  betAmountMinor: number;

  @Column(text('currency'))
  currency: string;

  /** When the platform cancels the remaining spins; null for never. */
  @Column(nullable(instant('expires_at')))
  expiresAt: Date | null;

  /**
   * Null until `expiresAt` has passed. BEGUN: the cancel that is due, under way or carried out is the grant's expiry.
   * FAILED: the provider did not answer that cancel with 200.
   */
  @Column(nullable(text('expiry')))
  expiry: 'BEGUN' | 'FAILED' | null;

  /**
   * The number of the latest claim to send the grant; 0 before the first. Failures of earlier claims are ignored. A claim
   * whose call could not be made has a number, too.
   */
  @Column(integer('attempt'))
  attempt: number;

  /** The provider's id of the granted spins; null until the provider has reported it. */
  @Column(nullable(text('external_ref')))
  externalRef: string | null;

  /**
   * The requestRef of the live grant of the same player that had the externalRef already; null for all other grants. No
   * WIN counts in a duplicate.
   */
  @Column(nullable(text('duplicate_of')))
  duplicateOf: string | null;

  /** The provider's HTTP status, if it answered. */
  @Column(nullable(integer('failure_status')))
  failureStatus: number | null;

  @Column(nullable(text('failure_error')))
  failureError: string | null;

  /** Whether the provider may have booked the grant. Can be true only if the grant is FAILED or is sent again. */
  @Column(flag('outcome_unknown'))
  outcomeUnknown: boolean;

  @Column(nullable(bigInteger('remaining_spins')))
  remainingSpins: number | null;

  @Column(nullable(flag('completed')))
  completed: boolean | null;

  @Column(nullable(instant('status_checked_at')))
  statusCheckedAt: Date | null;

  @Column(nullable(text('last_cancel_error')))
  lastCancelError: string | null;

  @Column(nullable(uuid('batch_id')))
  batchId: string | null;

  /** The request id of the next grant callback that `QueueRunner` sends: the id of the request that queued it. */
  @Column(nullable(text('request_id')))
  requestId: string | null;

  /** The request id of the next cancel callback that `QueueRunner` sends: the id of the request that queued it. */
  @Column(nullable(text('cancel_request_id')))
  cancelRequestId: string | null;

  @Column(instant('created_at'))
  createdAt: Date;

  @Column(instant('updated_at'))
  updatedAt: Date;
}
