import { Injectable, Logger } from '@nestjs/common';
import type { Actor } from '../audit/actor.js';
import { Audit, type RecordEntry } from '../audit/audit.service.js';
import { Configuration } from '../config/configuration.js';
import type { PageOf } from '../api/lists/page.js';
import { pageOfWindow } from '../api/lists/time-page.js';
import type { Transaction } from '../database/database.js';
import type { Place } from '../database/place.js';
import { isUuid } from '../api/validation/identifier.js';
import { CroupierError } from '../errors/croupier-error.js';
import { conflictForNow } from '../errors/try-later.js';
import { addLogFields, measure } from '../observability/trace.js';
import { sha256 } from '../runtime/digest.js';
import { Randomness } from '../runtime/randomness.js';
import { assertCurrency, type Operator, type Provider } from '../tenancy/tenant.js';
import { TenancyService } from '../tenancy/tenancy.service.js';
import { NOT_NOTIFIED, RevocationNotifier } from './revocation.notifier.js';
import { RevocationStore, type UnsentRevocation } from './revocation.store.js';
import type { RevokeReason, Session } from './session.entity.js';
import type { LaunchRequest, SessionQuery } from './session.request.js';
import {
  type LaunchResponse,
  type RevokePlayerResponse,
  type RevokeResponse,
  type SessionItem,
  sessionItem,
} from './session.response.js';
import { SessionOwners } from './session-owners.js';
import { SessionStore } from './session.store.js';

@Injectable()
export class SessionService {
  private readonly logger = new Logger('Session');

  constructor(
    private readonly configuration: Configuration,
    private readonly randomness: Randomness,
    private readonly tenancy: TenancyService,
    private readonly sessions: SessionStore,
    private readonly owners: SessionOwners,
    private readonly notifier: RevocationNotifier,
    private readonly revocations: RevocationStore,
    private readonly audit: Audit,
  ) {}

  /** @throws CroupierError INVALID_REQUEST */
  list(query: SessionQuery): Promise<PageOf<SessionItem>> {
    return pageOfWindow<Session & { place: string }, SessionItem>(
      query,
      isUuid,
      ({ before, limit }) => this.sessions.page(query, before, limit),
      sessionItem,
    );
  }

  /**
   * @param operatorId undefined for a session of any operator
   * @throws CroupierError NOT_FOUND
   */
  async find(sessionId: string, operatorId?: string): Promise<SessionItem> {
    const session = await this.sessions.find(sessionId, operatorId);
    if (!session) throw new CroupierError('NOT_FOUND', 'no such session');
    return sessionItem(session);
  }

  /**
   * Creates a session for one of the operator's players and one game. Contract, section 5.
   * @throws CroupierError INVALID_REQUEST · GAME_NOT_CONFIGURED · OPERATOR_NOT_CONFIGURED
   */
  async launch(operator: Operator, request: LaunchRequest): Promise<LaunchResponse> {
    assertCurrency(operator, request.currency);
    const game = this.tenancy.game(request.gameId);
    const provider = game && this.tenancy.provider(game.providerId);
    if (game?.status !== 'ACTIVE' || provider?.status !== 'ACTIVE') {
      throw new CroupierError('GAME_NOT_CONFIGURED');
    }
    const parties = { operatorId: operator.id, providerId: provider.id, gameId: game.gameId };
    const pause = this.tenancy.pauseOfBets(parties);
    if (pause) throw this.tenancy.pausedError(pause);
    const sessionToken = this.randomness.secret();
    const tokenHash = sha256(sessionToken);
    const session = await this.sessions.insert({
      ...parties,
      sessionId: this.randomness.uuid(),
      playerRef: request.playerRef,
      currency: request.currency,
      mode: request.mode ?? 'REAL',
      language: request.language ?? null,
      country: request.country ?? null,
      maxBetMinor: request.maxBetMinor ?? null,
      jurisdiction: request.jurisdiction ?? null,
      realityCheckSeconds: request.realityCheckSeconds ?? null,
      tokenHash,
      ttlSeconds: request.ttlSeconds ?? this.configuration.sessionTtlSeconds,
    });
    const { sessionId, gameId, providerId, mode, expiresAt } = session;
    addLogFields({ sessionId, gameId });
    this.owners.remember(tokenHash, session);
    return {
      sessionToken,
      sessionId,
      gameId,
      providerId,
      mode,
      expiresAt,
      ...(game.launchUrl !== null && { launchUrl: withToken(game.launchUrl, sessionToken) }),
    };
  }

  /**
   * Finds the live session of a token, if this provider may use it.
   * @throws CroupierError SESSION_INVALID · SESSION_OF_ANOTHER_PROVIDER
   */
  async requireLive(provider: Provider, sessionToken: string): Promise<Session> {
    const tokenHash = sha256(sessionToken);
    const session = await measure('load', () => this.sessions.byToken(tokenHash));
    if (!session || session.ended) throw new CroupierError('SESSION_INVALID');
    const { sessionId, operatorId } = session;
    addLogFields({ sessionId, operatorId });
    this.owners.remember(tokenHash, session);
    if (session.providerId !== provider.id) throw new CroupierError('SESSION_OF_ANOTHER_PROVIDER');
    return session;
  }

  /**
   * Finds the live session of a token, and checks that this instance's configuration contains its game and operator.
   * @throws CroupierError SESSION_INVALID · SESSION_OF_ANOTHER_PROVIDER · CONFIGURATION_UNAVAILABLE
   */
  async verify(provider: Provider, sessionToken: string): Promise<Session> {
    const session = await this.requireLive(provider, sessionToken).catch((error: unknown) => {
      if (error instanceof CroupierError) throw error;
      this.logger.error(error);
      throw new CroupierError('CONFIGURATION_UNAVAILABLE');
    });
    if (!this.tenancy.game(session.gameId) || !this.tenancy.operator(session.operatorId)) {
      throw new CroupierError('CONFIGURATION_UNAVAILABLE');
    }
    return session;
  }

  /**
   * Ends a session in the database and then notifies its provider once. An expired session can still be revoked; a
   * second call changes nothing and sends no notification. Contract, section 5.
   * @param operator 'any' for an administrator, who may end every operator's sessions
   * @throws CroupierError NOT_FOUND
   */
  async revoke(
    actor: Actor,
    operator: Operator | 'any',
    sessionId: string,
    reason: RevokeReason,
  ): Promise<RevokeResponse> {
    const operatorId = operator === 'any' ? undefined : operator.id;
    const revoked = await this.audit.change(actor, async ({ query }, record) => {
      const ended = await this.sessions.revoke(query, sessionId, operatorId, reason);
      const entry = { action: 'session.revoke', target: `session:${sessionId}`, after: { reason } };
      if (ended) await record(entry);
      return ended;
    });
    if (revoked) this.logger.log({ msg: 'session revoked', sessionId, reason });
    const session = revoked ?? (await this.sessions.find(sessionId, operatorId));
    if (!session?.revokedAt) throw new CroupierError('NOT_FOUND');
    const notification = revoked
      ? await this.notifier.notify(sessionId)
      : await this.notifier.notificationOf(sessionId);
    return { sessionId, status: 'REVOKED', revokedAt: session.revokedAt, notification };
  }

  /**
   * Sends an undelivered notification of a revocation once more, under the same revocationRef. Contract, section 9.
   * @throws CroupierError NOT_FOUND · CONFLICT if the session is not revoked, or its notification is delivered, under
   *   way, or was never recorded by an early version
   */
  async notifyAgain(actor: Actor, sessionId: string): Promise<RevokeResponse> {
    const session = await this.sessions.find(sessionId);
    if (!session) throw new CroupierError('NOT_FOUND', 'no such session');
    const { revokedAt } = session;
    if (!revokedAt) throw new CroupierError('CONFLICT', 'the session is not revoked');
    const claimed = await this.audit.change(actor, async ({ query }, record) => {
      const claim = await this.revocations.claimAgain(query, sessionId);
      if (claim) await record({ action: 'session.notify', target: `session:${sessionId}` });
      return claim;
    });
    if (claimed)
      return { sessionId, status: 'REVOKED', revokedAt, notification: await this.notifier.send(claimed) };
    const { delivered, error } = await this.notifier.notificationOf(sessionId);
    if (delivered) throw new CroupierError('CONFLICT', 'the notification was delivered');
    if (error === NOT_NOTIFIED) throw new CroupierError('CONFLICT', NOT_NOTIFIED);
    throw conflictForNow('the notification is under way');
  }

  /**
   * Ends all live sessions of the operator's player, the newest first, and then notifies their providers. Waits for the
   * notifications no longer than the time-out of one callback; the rest is sent in the background.
   *
   * Each step ends a bounded number of sessions in a transaction of its own, so that a player's sessions can be ended
   * however many they are. After a crash between two steps, the same request ends the rest.
   */
  async revokePlayer(
    actor: Actor,
    operator: Operator,
    playerRef: string,
    reason: RevokeReason,
  ): Promise<RevokePlayerResponse> {
    const player = { operatorId: operator.id, playerRef };
    const target = `player:${operator.id}/${playerRef}`;
    const revoked: UnsentRevocation[] = [];
    let next: Place | undefined;
    do {
      const endSome = async ({ query }: Transaction, record: RecordEntry) => {
        const ended = await this.sessions.revokePlayer(query, player, reason, next);
        const sessions = ended.revoked.map(({ sessionId }) => sessionId);
        const entry = { action: 'player.revoke-sessions', target, after: { reason, sessions } };
        if (sessions.length > 0) await record(entry);
        return ended;
      };
      const step = await this.audit.change(actor, endSome, next ? 'begun' : 'request');
      for (const { sessionId, providerId } of step.revoked) revoked.push({ sessionId, providerId });
      next = step.next;
    } while (next);
    this.logger.log({ msg: 'sessions of a player revoked', playerRef, reason, revoked: revoked.length });
    await this.notifier.notifyAll(revoked);
    return { revoked: revoked.map(({ sessionId }) => sessionId) };
  }
}

/**
 * Adds the token to the launch address, from which the game's client reads it, in place of any other `sessionToken`. The
 * query is edited as text: URLSearchParams would write the other parameters in its own form, `%20` as `+`.
 */
function withToken(launchUrl: string, sessionToken: string): string {
  const url = new URL(launchUrl);
  const others = url.search
    .slice(1)
    .split('&')
    .filter((parameter) => parameter !== '' && !new URLSearchParams(parameter).has('sessionToken'));
  url.search = [...others, `sessionToken=${sessionToken}`].join('&');
  return url.href;
}
