import { Column, Entity, PrimaryColumn } from 'typeorm';
import { bytes, instant, nullable, text, uuid } from '../../database/columns.js';

/** A batch. The rows of `free_spin_grants` with its batchId are its grants. Contract, section 6. */
@Entity({ name: 'free_spin_batches', synchronize: false })
export class Batch {
  @PrimaryColumn(uuid('batch_id'))
  batchId: string;

  /** The requester's reference, which makes the request idempotent; null if the request has none. */
  @Column(nullable(text('batch_ref')))
  batchRef: string | null;

  @Column(text('operator_id'))
  operatorId: string;

  /** SHA-256 of the fields that must be equal in a repeated request. */
  @Column(bytes('fingerprint'))
  fingerprint: Buffer;

  /** Null in a batch that an earlier version recorded. */
  @Column(nullable(text('game_id')))
  gameId: string | null;

  @Column(instant('created_at'))
  createdAt: Date;
}
