import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import { databaseTime } from '../../database/columns.js';
import type { Query, Statement, Transaction } from '../../database/database.js';
import { Pause, type PausedKind } from './pause.entity.js';

/** Other pauses of the same target wait, also if there is no row of `pauses` yet; sessions that refer to it do not. */
const LOCK_TARGET: Readonly<Record<PausedKind, Statement>> = {
  OPERATOR: {
    name: 'pause_lock_operator',
    text: `SELECT id FROM tenants WHERE kind = 'OPERATOR' AND id = $1 FOR NO KEY UPDATE`,
  },
  PROVIDER: {
    name: 'pause_lock_provider',
    text: `SELECT id FROM tenants WHERE kind = 'PROVIDER' AND id = $1 FOR NO KEY UPDATE`,
  },
  GAME: {
    name: 'pause_lock_game',
    text: `SELECT game_id FROM games WHERE game_id = $1 FOR NO KEY UPDATE`,
  },
};

/** Reads and writes pauses. A write needs the lock of its target. */
@Injectable()
export class PauseStore {
  constructor(@InjectRepository(Pause) private readonly pauses: Repository<Pause>) {}

  /** Locks what is paused or resumed. @returns false where there is no such operator, provider or game */
  async lockTarget(query: Query, kind: PausedKind, id: string): Promise<boolean> {
    return (await query(LOCK_TARGET[kind], [id])).length > 0;
  }

  find({ manager }: Transaction, kind: PausedKind, id: string): Promise<Pause | null> {
    return manager.withRepository(this.pauses).findOneBy({ kind, id });
  }

  /** Stores a pause in the place of the one before, if any. */
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

  /** The pauses of these targets of one kind, including those that are over. */
  ofTargets(kind: PausedKind, ids: readonly string[]): Promise<Pause[]> {
    return this.pauses.findBy({ kind, id: In(ids) });
  }
}
