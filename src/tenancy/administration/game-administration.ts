import { Injectable } from '@nestjs/common';
import type { Actor } from '../../audit/actor.js';
import { Audit } from '../../audit/audit.service.js';
import { CroupierError } from '../../errors/croupier-error.js';
import { answerOf } from '../../api/answer.js';
import { isIdentifier } from '../../api/validation/identifier.js';
import type { PutGameRequest } from './game.request.js';
import { GameResponse } from './game.response.js';
import { GameStore } from '../game.store.js';
import { pageById, type PageOf, type PageQuery } from '../../api/lists/page.js';
import { type WithPause, PausesService } from '../pauses/pauses.service.js';
import { TenancyService } from '../tenancy.service.js';
import { auditTargetOf, type Game } from '../tenant.js';

/** Creates and replaces games. Contract, section 7. */
@Injectable()
export class GameAdministration {
  constructor(
    private readonly tenancy: TenancyService,
    private readonly games: GameStore,
    private readonly pauses: PausesService,
    private readonly audit: Audit,
  ) {}

  /** @throws CroupierError INVALID_REQUEST if there is no such provider */
  async put(actor: Actor, gameId: string, request: PutGameRequest): Promise<WithPause<Game>> {
    const { providerId, name, status = 'ACTIVE', launchUrl = null, roundDetailsUrl = null } = request;
    const stored = await this.audit.change(actor, async (transaction, record) => {
      const fields = { gameId, providerId, name, status, launchUrl, roundDetailsUrl };
      const put = await this.games.put(transaction, fields);
      if (!put) throw new CroupierError('INVALID_REQUEST', `providerId names no provider: ${providerId}`);
      const { before, after } = put;
      if (after === before) return after;
      await record({
        action: before ? 'game.replace' : 'game.create',
        target: auditTargetOf({ kind: 'GAME', id: gameId }),
        ...(before && { before: answerOf(GameResponse, before) }),
        after: answerOf(GameResponse, after),
      });
      return after;
    });
    await this.tenancy.reload();
    return this.pauses.withPause('GAME', gameId, stored);
  }

  /** @throws CroupierError NOT_FOUND */
  async find(gameId: string): Promise<WithPause<Game>> {
    const game = isIdentifier(gameId) ? await this.games.find(gameId) : undefined;
    if (!game) throw new CroupierError('NOT_FOUND', 'no such game');
    return this.pauses.withPause('GAME', gameId, game);
  }

  /** @throws CroupierError INVALID_REQUEST */
  async list(query: PageQuery): Promise<PageOf<WithPause<Game>>> {
    const { items, ...page } = await pageById(
      query,
      (after) => this.games.list(after),
      (game) => game.gameId,
    );
    return { items: await this.pauses.withPauses('GAME', items, ({ gameId }) => gameId), ...page };
  }
}
