import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { instant, integer, nullable, text } from '../database/columns.js';

/** One attempt to call a provider: inserted before the call and completed after it. */
@Entity({ name: 'callbacks', synchronize: false })
export class Callback {
  /** Ascending in the order of insertion. */
  @PrimaryGeneratedColumn('identity', { name: 'callback_id', type: 'bigint', generatedIdentity: 'ALWAYS' })
  callbackId: number;

  @Column(text('provider_id'))
  providerId: string;

  @Column(text('route'))
  route: string;

  @Column(text('reference'))
  reference: string;

  @Column(nullable(text('request_id')))
  requestId: string | null;

  @Column(text('body'))
  body: string;

  @Column(nullable(integer('status')))
  status: number | null;

  @Column(nullable(text('answer')))
  answer: string | null;

  @Column(nullable(text('error')))
  error: string | null;

  @Column(nullable(integer('duration_ms')))
  durationMs: number | null;

  @Column(instant('created_at'))
  createdAt: Date;

  /** Null while the call is under way, or if its outcome could not be recorded, for example because of a crash. */
  @Column(nullable(instant('completed_at')))
  completedAt: Date | null;
}
