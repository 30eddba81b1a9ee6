import { Column, Entity, PrimaryColumn } from 'typeorm';
import { instant, nullable, text } from '../database/columns.js';
import type { Status } from './status.js';

/** A provider's game. */
@Entity({ name: 'games', synchronize: false })
export class Game {
  /** Unique on the platform: it names the provider. */
  @PrimaryColumn(text('game_id'))
  gameId: string;

  @Column(text('provider_id'))
  providerId: string;

  @Column(text('name'))
  name: string;

  @Column(text('status'))
  status: Status;

  /** Where the operator sends the player's browser; null: the operator knows. */
  @Column(nullable(text('launch_url')))
  launchUrl: string | null;

  @Column(instant('created_at'))
  createdAt: Date;

  @Column(instant('updated_at'))
  updatedAt: Date;
}
