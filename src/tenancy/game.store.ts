import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { databaseTime } from '../database/columns.js';
import type { Transaction } from '../database/database.js';
import { named } from '../database/statement.js';
import type { PageAfter } from '../api/lists/page.js';
import { changesNothing } from './changes-nothing.js';
import { Game } from './game.entity.js';
import { ProviderEntity } from './tenant.entity.js';

/** First of the two keys of an advisory lock on a game. The number is arbitrary. */
const GAME_LOCKS = 7_300_004;

/** Locks a game's id, because the game may have no row yet. */
const LOCK_GAME = named(
  'tenancy_lock_game',
  `SELECT pg_advisory_xact_lock(${GAME_LOCKS}, hashtext(:gameId))`,
);

@Injectable()
export class GameStore {
  constructor(@InjectRepository(Game) private readonly games: Repository<Game>) {}

  /** @returns the game before and after, the same if nothing changes; undefined if there is no such provider */
  async put(
    { query, manager }: Transaction,
    { gameId, ...fields }: Omit<Game, 'createdAt' | 'updatedAt'>,
  ): Promise<{ before: Game | null; after: Game } | undefined> {
    await query(LOCK_GAME, { gameId });
    if (!(await manager.existsBy(ProviderEntity, { id: fields.providerId }))) return undefined;
    const games = manager.withRepository(this.games);
    // This lock blocks other changes, but not launches, whose new sessions refer to the row.
    const before = await games.findOne({ where: { gameId }, lock: { mode: 'for_no_key_update' } });
    if (before && changesNothing(before, fields)) return { before, after: before };
    if (before) await games.update({ gameId }, { ...fields, updatedAt: databaseTime });
    else await games.insert({ gameId, ...fields, createdAt: databaseTime, updatedAt: databaseTime });
    return { before, after: await games.findOneByOrFail({ gameId }) };
  }

  find(gameId: string): Promise<Game | null> {
    return this.games.findOneBy({ gameId });
  }

  list({ after, limit }: PageAfter): Promise<Game[]> {
    return this.games
      .createQueryBuilder('game')
      .where('game.gameId COLLATE "C" > :after', { after })
      .orderBy('game.gameId COLLATE "C"')
      .limit(limit)
      .getMany();
  }
}
