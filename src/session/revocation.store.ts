import { Injectable } from '@nestjs/common';
import { Configuration } from '../config/configuration.js';
import { Database, type Query } from '../database/database.js';
import { lookUp } from '../database/planner.js';
import { named, type Statement } from '../database/statement.js';
import { callbackLeaseSeconds, type Claim, claimWith } from '../provider-callback/callback-lease.js';
import type { RevocationNotification } from './session.response.js';

/** A claimed notification, which this instance must send once. */
export interface ClaimedRevocation extends Claim {
  readonly sessionId: string;
  readonly revocationRef: string;
  readonly providerId: string;
  readonly playerRef: string;
  readonly gameId: string;
  readonly reason: string;
  readonly revokedAt: Date;
  /** End of the claim's lease, as text, because a Date would lose the microseconds. It identifies the claim. */
  readonly lease: string;
}

/** A session whose provider must be notified of its revocation. */
export interface UnsentRevocation {
  readonly sessionId: string;
  readonly providerId: string;
}

interface StoredNotification {
  readonly sent: boolean;
  readonly delivered: boolean | null;
  readonly status: number | null;
  readonly error: string | null;
  /** Whether the lease is still valid, by the database's clock. */
  readonly leaseAlive: boolean;
}

const claimWhere = (condition: string) => `
  UPDATE session_revocations r
     SET sent = true, delivered = NULL, status = NULL, error = NULL,
         lease_until = clock_timestamp() + make_interval(secs => :leaseSeconds)
    FROM sessions s
   WHERE s.session_id = r.session_id AND ${condition}
  RETURNING r.session_id AS "sessionId", r.revocation_ref AS "revocationRef", s.provider_id AS "providerId",
            s.player_ref AS "playerRef", s.game_id AS "gameId", s.revoke_reason AS reason,
            s.revoked_at AS "revokedAt", r.lease_until::text AS lease`;

const CLAIM = named('revocation_claim', claimWhere('NOT r.sent AND r.session_id = :sessionId'));

/** Claims a notification that is neither delivered nor under way. */
const CLAIM_AGAIN = named(
  'revocation_claim_again',
  claimWhere(`r.session_id = :sessionId
     AND (NOT r.sent OR NOT r.delivered OR (r.delivered IS NULL AND r.lease_until <= clock_timestamp()))`),
);

/**
 * Maximum number of unsent notifications that one search examines, those that have waited the longest first. It takes
 * about 0.1 s for 10,000, because it looks up the provider of each.
 */
const EXAMINED_LIMIT = 20_000;

/**
 * Selects notifications that their instance left unsent, because the instance stopped or its queue was full: up to
 * `:limit` of each provider among those that are examined, those that have waited the longest first.
 */
export const UNSENT = named(
  'revocation_unsent',
  `
    SELECT "sessionId", "providerId"
      FROM (SELECT "sessionId", "providerId", row_number() OVER (PARTITION BY "providerId" ORDER BY lease_until) AS place
              FROM (SELECT r.session_id AS "sessionId", r.lease_until,
                           ${lookUp('s.provider_id', 'FROM sessions s WHERE s.session_id = r.session_id')} AS "providerId"
                      FROM session_revocations r WHERE NOT r.sent AND r.lease_until <= statement_timestamp()
                     ORDER BY r.lease_until LIMIT ${EXAMINED_LIMIT}) AS waiting) AS numbered
     WHERE place <= :limit
     ORDER BY place`,
);

/**
 * Records the outcome of a notification. If the notification has been claimed again meanwhile, a delivery is still
 * recorded, but a failure is not.
 */
const COMPLETE = named(
  'revocation_complete',
  `
    UPDATE session_revocations
       SET delivered = :delivered::boolean, status = :status, error = :error, lease_until = NULL,
           failed_at = CASE WHEN NOT :delivered::boolean THEN clock_timestamp() END
     WHERE session_id = :sessionId AND sent AND delivered IS NOT TRUE
       AND (:delivered::boolean OR (delivered IS NULL AND lease_until = :lease::timestamptz))`,
);

/** Lets a claimed notification wait to be sent, because its call could not be made. */
const UNCLAIM = named(
  'revocation_unclaim',
  `
    UPDATE session_revocations
       SET sent = false, lease_until = clock_timestamp()
     WHERE session_id = :sessionId AND sent AND delivered IS NULL AND lease_until = :lease::timestamptz`,
);

const NOTIFICATION = named(
  'revocation_notification',
  `
    SELECT sent, delivered, status, error, coalesce(lease_until > clock_timestamp(), false) AS "leaseAlive"
      FROM session_revocations WHERE session_id = :sessionId`,
);

/** Reads and writes the notifications of revocations; every update is conditional on the current state. */
@Injectable()
export class RevocationStore {
  private readonly leaseSeconds: number;

  constructor(
    private readonly database: Database,
    configuration: Configuration,
  ) {
    this.leaseSeconds = callbackLeaseSeconds(configuration);
  }

  /** Claims an unsent notification. Once the claim is committed, only a person can have the notification sent again. */
  claim(sessionId: string): Promise<ClaimedRevocation | undefined> {
    return claimWith(this.database.query, CLAIM, { sessionId, leaseSeconds: this.leaseSeconds });
  }

  /**
   * Claims an undelivered notification to send it once more.
   * @returns undefined if it is delivered or under way
   */
  claimAgain(query: Query, sessionId: string): Promise<ClaimedRevocation | undefined> {
    return claimWith(query, CLAIM_AGAIN, { sessionId, leaseSeconds: this.leaseSeconds });
  }

  /**
   * @returns notifications that their instance left unsent, up to `limit` of each provider; only the 20,000 that have
   *   waited the longest are examined, so a provider whose notifications are newer may be missing
   */
  unsent(limit: number): Promise<UnsentRevocation[]> {
    return this.database.query(UNSENT, { limit });
  }

  /** Lets a notification wait to be sent by any instance, because its call could not be made. */
  async unclaim(claimed: ClaimedRevocation): Promise<void> {
    await this.persist(UNCLAIM, claimed);
  }

  async complete(
    claimed: ClaimedRevocation,
    { delivered, status, error }: RevocationNotification,
  ): Promise<void> {
    await this.persist(COMPLETE, { ...claimed, delivered, status, error });
  }

  /** Repeats the write if its connection is lost. A repetition finds that the lease of `claimed` has ended. */
  private async persist(statement: Statement, values: object): Promise<void> {
    await this.database.persist(() => this.database.query(statement, values));
  }

  async notification(sessionId: string): Promise<StoredNotification | undefined> {
    return (await this.database.query<StoredNotification>(NOTIFICATION, { sessionId }))[0];
  }
}
