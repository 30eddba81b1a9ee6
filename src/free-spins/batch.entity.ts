import { Column, Entity, PrimaryColumn } from 'typeorm';
import { bytes, instant, nullable, text, uuid } from '../database/columns.js';

/** One grant each for many players; its grants are `free_spin_grants` with its batchId. Contract, section 6. */
@Entity({ name: 'free_spin_batches', synchronize: false })
export class Batch {
  @PrimaryColumn(uuid('batch_id'))
  batchId: string;

  /** Makes the request idempotent; null: it is not. */
  @Column(nullable(text('batch_ref')))
  batchRef: string | null;

  @Column(text('operator_id'))
  operatorId: string;

  /** SHA-256 over the fields in which a replay must be equal. */
  @Column(bytes('fingerprint'))
  fingerprint: Buffer;

  /** Null: recorded by an earlier version. */
  @Column(nullable(text('game_id')))
  gameId: string | null;

  @Column(instant('created_at'))
  createdAt: Date;
}
