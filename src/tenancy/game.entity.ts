import { Column, Entity, PrimaryColumn } from 'typeorm';
import { instant, nullable, text } from '../database/columns.js';
import type { Status } from './tenant.entity.js';

@Entity({ name: 'games', synchronize: false })
export class Game {
  /** Unique on the platform, so it determines the provider. */
  @PrimaryColumn(text('game_id'))
  gameId: string;

  @Column(text('provider_id'))
  providerId: string;

  @Column(text('name'))
  name: string;

  @Column(text('status'))
  status: Status;

  /** The address that the operator opens in the player's browser; null if the operator knows the address. */
  @Column(nullable(text('launch_url')))
  launchUrl: string | null;

  /** The address at which the provider shows a round, with placeholders; null if it has none. */
  @Column(nullable(text('round_details_url')))
  roundDetailsUrl: string | null;

  @Column(instant('created_at'))
  createdAt: Date;

  @Column(instant('updated_at'))
  updatedAt: Date;
}
