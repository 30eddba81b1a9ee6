import { Injectable } from '@nestjs/common';
import type { Actor } from '../audit/actor.js';
import { Audit } from '../audit/audit.service.js';
import { CroupierError } from '../errors/croupier-error.js';
import { isIdentifier } from '../http/validation/identifier.js';
import type { PutGameRequest } from './game.request.js';
import { pageById, type PageOf, type PageQuery } from '../http/lists/page.js';
import { TenancyService } from './tenancy.service.js';
import { TenancyStore } from './tenancy.store.js';
import type { Game } from './tenant.js';

/** Creates and replaces games. Contract, section 7. */
@Injectable()
export class GameAdministration {
  constructor(
    private readonly tenancy: TenancyService,
    private readonly store: TenancyStore,
    private readonly audit: Audit,
  ) {}

  /** @throws CroupierError INVALID_REQUEST, also where there is no such provider */
  async put(actor: Actor, gameId: string, request: PutGameRequest): Promise<Game> {
    const { providerId, name, status, launchUrl } = request;
    const wanted = {
      ...{ gameId, providerId, name },
      status: status ?? ('ACTIVE' as const),
      ...(launchUrl != null && { launchUrl }),
    };
    const stored = await this.audit.change(actor, async ({ query }, record) => {
      const before = await this.store.lockedGame(query, gameId);
      const put = await this.store.putGame(query, wanted);
      if (!put) throw new CroupierError('INVALID_REQUEST', `providerId names no provider: ${providerId}`);
      await record({
        action: put.created ? 'game.create' : 'game.replace',
        target: `game:${gameId}`,
        ...(before && { before }),
        after: put.game,
      });
      return put.game;
    });
    await this.tenancy.changed();
    return stored;
  }

  /** @throws CroupierError NOT_FOUND */
  async find(gameId: string): Promise<Game> {
    const game = isIdentifier(gameId) ? await this.store.game(gameId) : undefined;
    if (!game) throw new CroupierError('NOT_FOUND', 'no such game');
    return game;
  }

  /** Ordered by gameId. @throws CroupierError INVALID_REQUEST */
  list(query: PageQuery): Promise<PageOf<Game>> {
    return pageById(
      query,
      (page) => this.store.games(page),
      (game) => game.gameId,
    );
  }
}
