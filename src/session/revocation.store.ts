import { Injectable } from '@nestjs/common';
import { Configuration } from '../config/configuration.js';
import { Database, type Query } from '../database/database.js';
import { leading, lookUp } from '../database/planner.js';
import { named } from '../database/statement.js';
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
 * The unsent notification of a provider whose lease ended first: its instance stopped, or had a full queue. Reads the
 * index session_revocations_unsent_in_turn.
 */
const firstUnsent = (providerId: string) => `
  FROM session_revocations
 WHERE NOT sent AND ${leading({ provider_id: providerId }, { lease_until: 'statement_timestamp()' })}
 ORDER BY provider_id, lease_until LIMIT 1`;

/** Claims the next notification of a provider. */
export const CLAIM_UNSENT = named(
  'revocation_claim_unsent',
  claimWhere(`r.session_id = (SELECT session_id ${firstUnsent(':providerId')} FOR UPDATE SKIP LOCKED)`),
);

/** Selects the providers with notifications that wait. */
export const PROVIDERS_WITH_UNSENT = named(
  'revocation_providers_with_unsent',
  `SELECT p.id AS "providerId" FROM unnest(:providerIds::text[]) AS p (id)
    WHERE ${lookUp('session_id', firstUnsent('p.id'))} IS NOT NULL`,
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

/**
 * Reads and writes the notifications of revocations; every update is conditional on the current state. Outcomes are
 * written again if their connection is lost: a repetition after a commit finds that the lease of the claim has ended.
 */
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

  /** Claims the next notification of a provider that its instance left unsent. */
  claimUnsent(providerId: string): Promise<ClaimedRevocation | undefined> {
    return claimWith(this.database.query, CLAIM_UNSENT, { providerId, leaseSeconds: this.leaseSeconds });
  }

  /** @returns those of the providers with notifications that their instance left unsent */
  async providersWithUnsent(providerIds: readonly string[]): Promise<string[]> {
    const rows = await this.database.query<{ providerId: string }>(PROVIDERS_WITH_UNSENT, { providerIds });
    return rows.map(({ providerId }) => providerId);
  }

  /** Lets a notification wait to be sent by any instance, because its call could not be made. */
  async unclaim(claimed: ClaimedRevocation): Promise<void> {
    await this.database.persistQuery(UNCLAIM, claimed);
  }

  async complete(
    claimed: ClaimedRevocation,
    { delivered, status, error }: RevocationNotification,
  ): Promise<void> {
    await this.database.persistQuery(COMPLETE, { ...claimed, delivered, status, error });
  }

  async notification(sessionId: string): Promise<StoredNotification | undefined> {
    return (await this.database.query<StoredNotification>(NOTIFICATION, { sessionId }))[0];
  }
}
