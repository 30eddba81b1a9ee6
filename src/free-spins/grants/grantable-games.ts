import { Injectable } from '@nestjs/common';
import { DatabaseClock } from '../../database/database-clock.js';
import { CroupierError } from '../../errors/croupier-error.js';
import { TenancyService } from '../../tenancy/tenancy.service.js';
import { assertCurrency, type Game } from '../../tenancy/tenant.js';
import type { Grant } from './grant.entity.js';
import type { NewGrant } from './grant.store.js';

/** The grants that a caller may use: those of one operator, or all. */
export type Scope = { readonly operatorId: string } | 'everybody';

/** Why a grant whose expiresAt has passed is not sent. */
export const EXPIRED = 'not sent: its expiresAt has passed';
/** Why a grant is not sent if the verdict on it is `unknown` and it cannot wait any more. */
export const UNKNOWN_WHETHER_OPEN = 'not sent: the platform could not read its configuration';
const GAME_CLOSED = 'not sent: spins can no longer be granted in the game';

/** The games in which spins can be granted. */
@Injectable()
export class GrantableGames {
  constructor(
    private readonly tenancy: TenancyService,
    private readonly databaseClock: DatabaseClock,
  ) {}

  /**
   * Returns the game of a grant or batch, if free spins can be granted in it now.
   * @throws CroupierError INVALID_REQUEST if the operator does not accept the currency, or an administrator names an
   *   unknown operator or game · GAME_NOT_CONFIGURED · OPERATOR_NOT_CONFIGURED
   */
  find(
    { operatorId, gameId, currency }: Pick<NewGrant, 'operatorId' | 'gameId' | 'currency'>,
    scope: Scope,
  ): Game {
    const operator = this.tenancy.operator(operatorId);
    if (!operator) throw new CroupierError('INVALID_REQUEST', 'operatorId names no operator');
    assertCurrency(operator, currency);
    if (operator.status !== 'ACTIVE') throw new CroupierError('OPERATOR_NOT_CONFIGURED');
    const game = this.tenancy.game(gameId);
    // An administrator can look the game up and gets a 400. An operator gets a 503, as when it launches an unknown
    // game.
    if (!game && scope === 'everybody') throw new CroupierError('INVALID_REQUEST', 'gameId names no game');
    if (!game || !this.isOpen(game)) throw new CroupierError('GAME_NOT_CONFIGURED');
    return game;
  }

  /**
   * Requires that a stored grant or batch can be sent again: its callback goes to its own provider, which the game may
   * have left. That provider may be disabled.
   * @throws CroupierError as `find` does · GAME_NOT_CONFIGURED if the game has moved to another provider
   */
  assertResendable(
    stored: Pick<NewGrant, 'operatorId' | 'gameId' | 'currency' | 'providerId'>,
    scope: Scope,
  ): void {
    const { providerId } = this.find(stored, scope);
    if (providerId !== stored.providerId)
      throw new CroupierError('GAME_NOT_CONFIGURED', 'the game has moved to another provider');
  }

  /**
   * Whether a grant that was queued is still sent. It may have waited, and its game may have been closed or moved, or its
   * expiresAt have passed meanwhile. `unknown`: the directory of games could not be read, so the grant must wait.
   */
  async verdictOn(
    grant: Pick<Grant, 'gameId' | 'providerId' | 'expiresAt'>,
  ): Promise<'send' | 'unknown' | { readonly refusal: string }> {
    if (grant.expiresAt !== null && grant.expiresAt <= this.databaseClock.now()) return { refusal: EXPIRED };
    if (this.isSendable(grant)) return 'send';
    // Another instance may have opened the game, and queued the grant, since this one last read the directory.
    const isRead = await this.tenancy.reload();
    if (this.isSendable(grant)) return 'send';
    return isRead ? { refusal: GAME_CLOSED } : 'unknown';
  }

  private isSendable({ gameId, providerId }: Pick<Grant, 'gameId' | 'providerId'>): boolean {
    const game = this.tenancy.game(gameId);
    return game !== undefined && this.isOpen(game) && game.providerId === providerId;
  }

  /** Whether spins may be granted in a game: neither it nor its provider is disabled. */
  private isOpen(game: Game): boolean {
    return game.status === 'ACTIVE' && this.tenancy.provider(game.providerId)?.status === 'ACTIVE';
  }
}
