import { Injectable } from '@nestjs/common';
import { CroupierError } from '../errors/croupier-error.js';
import { isUuid } from '../http/validation/identifier.js';
import type { PageOf } from '../http/lists/page.js';
import { pageByTime, present } from '../http/lists/time-page.js';
import type { SessionItem, SessionQuery } from './session.admin.response.js';
import { type DeskSession, SessionSearchStore } from './session-search.store.js';

/** What people at the desk see of sessions. Contract, section 7. */
@Injectable()
export class SessionDesk {
  constructor(private readonly sessions: SessionSearchStore) {}

  /** Newest first. @throws CroupierError INVALID_REQUEST */
  list(query: SessionQuery): Promise<PageOf<SessionItem>> {
    const { revoked, ...filter } = query;
    const wanted = { ...filter, revoked: revoked && revoked === 'true' };
    return pageByTime<DeskSession & { place: string }, SessionItem>(
      query,
      isUuid,
      (page) => this.sessions.page(wanted, page),
      itemOf,
    );
  }

  /** @throws CroupierError NOT_FOUND */
  async find(sessionId: string): Promise<SessionItem> {
    const row = await this.sessions.find(sessionId);
    if (!row) throw new CroupierError('NOT_FOUND', 'no such session');
    return itemOf(row);
  }
}

function itemOf(row: DeskSession): SessionItem {
  const { sessionId, operatorId, providerId, playerRef, gameId, currency, mode, language, country } = row;
  const { createdAt, expiresAt, revokedAt, revokeReason } = row;
  const status = revokedAt ? 'REVOKED' : row.ended ? 'EXPIRED' : 'ACTIVE';
  return present<SessionItem>({
    ...{ sessionId, status, operatorId, providerId, playerRef, gameId, currency, mode, language, country },
    ...{ createdAt, expiresAt, revokedAt, revokeReason },
  });
}
