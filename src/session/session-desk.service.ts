import { Injectable } from '@nestjs/common';
import { CroupierError } from '../errors/croupier-error.js';
import { answerOf } from '../api/answer.js';
import { isUuid } from '../api/validation/identifier.js';
import type { PageOf } from '../api/lists/page.js';
import { pageByTime } from '../api/lists/time-page.js';
import { SessionItem, type SessionQuery } from './session.admin.response.js';
import type { Session } from './session.entity.js';
import { SessionStore } from './session.store.js';

/** Sessions for the support desk. Contract, section 7. */
@Injectable()
export class SessionDesk {
  constructor(private readonly sessions: SessionStore) {}

  /**
   * One page of sessions, newest first.
   * @throws CroupierError INVALID_REQUEST
   */
  list(query: SessionQuery): Promise<PageOf<SessionItem>> {
    return pageByTime<Session & { place: string }, SessionItem>(
      query,
      isUuid,
      (page) => this.sessions.page(query, page),
      itemOf,
    );
  }

  /** @throws CroupierError NOT_FOUND */
  async find(sessionId: string): Promise<SessionItem> {
    const session = await this.sessions.find(sessionId);
    if (!session) throw new CroupierError('NOT_FOUND', 'no such session');
    return itemOf(session);
  }
}

function itemOf(session: Session): SessionItem {
  const status = session.revokedAt ? 'REVOKED' : session.ended ? 'EXPIRED' : 'ACTIVE';
  return answerOf(SessionItem, { ...session, status });
}
