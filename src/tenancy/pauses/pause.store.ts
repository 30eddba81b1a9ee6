import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import { databaseTime } from '../../database/columns.js';
import type { RowOf } from '../../api/lists/item.js';
import { Database, type Query, type Transaction } from '../../database/database.js';
import { named, type Statement } from '../../database/statement.js';
import { Pause, type PausedKind } from './pause.entity.js';
import type { PauseItem } from './pause.response.js';

/** Locks the operator, provider or game, because `pauses` may have no row to lock yet. Launches do not wait. */
const LOCK_TARGET: Readonly<Record<PausedKind, Statement>> = {
  OPERATOR: named(
    'pause_lock_operator',
    `SELECT id FROM tenants WHERE kind = 'OPERATOR' AND id = :id FOR NO KEY UPDATE`,
  ),
  PROVIDER: named(
    'pause_lock_provider',
    `SELECT id FROM tenants WHERE kind = 'PROVIDER' AND id = :id FOR NO KEY UPDATE`,
  ),
  GAME: named('pause_lock_game', 'SELECT game_id FROM games WHERE game_id = :id FOR NO KEY UPDATE'),
};

/** The database's clock decides which pauses have ended, as it does for BETs. */
const PAGE = named(
  'pause_page',
  `SELECT kind, id, reason, paused_at AS since, until, paused_by AS by FROM pauses
    WHERE (until IS NULL OR until > statement_timestamp()) AND (kind, id COLLATE "C") > (:kind, :id)
    ORDER BY kind, id COLLATE "C" LIMIT :limit`,
);

/** Callers must call `lockTarget` before a write. */
@Injectable()
export class PauseStore {
  constructor(
    private readonly database: Database,
    @InjectRepository(Pause) private readonly pauses: Repository<Pause>,
  ) {}

  /** @returns false if the operator, provider or game does not exist */
  async lockTarget(query: Query, kind: PausedKind, id: string): Promise<boolean> {
    return (await query(LOCK_TARGET[kind], { id })).length > 0;
  }

  find({ manager }: Transaction, kind: PausedKind, id: string): Promise<Pause | null> {
    return manager.withRepository(this.pauses).findOneBy({ kind, id });
  }

  async put({ manager }: Transaction, pause: Omit<Pause, 'pausedAt'>): Promise<Pause> {
    const { kind, id } = pause;
    const pauses = manager.withRepository(this.pauses);
    await pauses.delete({ kind, id });
    await pauses.insert({ ...pause, pausedAt: databaseTime });
    return pauses.findOneByOrFail({ kind, id });
  }

  async remove({ manager }: Transaction, kind: PausedKind, id: string): Promise<void> {
    await manager.withRepository(this.pauses).delete({ kind, id });
  }

  /** The pauses in force that follow a place, ordered by kind and id. */
  page(after: Pick<Pause, 'kind' | 'id'> | undefined, limit: number): Promise<RowOf<PauseItem>[]> {
    return this.database.query(PAGE, { kind: after?.kind ?? '', id: after?.id ?? '', limit });
  }

  /** Includes pauses that have ended. */
  ofTargets(kind: PausedKind, ids: readonly string[]): Promise<Pause[]> {
    return this.pauses.findBy({ kind, id: In(ids) });
  }
}
