import { Column, Entity, PrimaryColumn } from 'typeorm';
import { instant, nullable, text } from '../../database/columns.js';

export const PAUSED_KINDS = ['GAME', 'OPERATOR', 'PROVIDER'] as const;

export type PausedKind = (typeof PAUSED_KINDS)[number];

/** A pause of an operator, provider or game. Contract, section 9, "Health and pauses". */
@Entity({ name: 'pauses', synchronize: false })
export class Pause {
  @PrimaryColumn(text('kind'))
  kind: PausedKind;

  /** The id of the operator, provider or game. */
  @PrimaryColumn(text('id'))
  id: string;

  @Column(text('reason'))
  reason: string;

  /** When the pause ends; null if only a resume ends it. */
  @Column(nullable(instant('until')))
  until: Date | null;

  @Column(instant('paused_at'))
  pausedAt: Date;

  /** The administrator who set the pause, named as in the audit log. */
  @Column(text('paused_by'))
  by: string;

  @Column(nullable(text('paused_by_name')))
  byName: string | null;
}

/** @param now by the database's clock */
export function isInForce({ until }: Pick<Pause, 'until'>, now: Date): boolean {
  return until === null || until > now;
}
