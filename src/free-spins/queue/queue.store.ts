import { Injectable } from '@nestjs/common';
import { Configuration } from '../../config/configuration.js';
import { Database } from '../../database/database.js';
import { selectList } from '../../database/select-list.js';
import { lookUp } from '../../database/planner.js';
import { named } from '../../database/statement.js';
import { callbackLeaseSeconds, claimWith } from '../../provider-callback/callback-lease.js';
import { Grant } from '../grants/grant.entity.js';
import { HAS_NO_SUCCESSOR, LEASE_END, REACHED, UNSENT } from '../grants/grant.sql.js';
import { type ClaimedCancel, type ClaimedGrant, GrantStore, type Reached } from '../grants/grant.store.js';

/**
 * The number of a provider's first waiting grant of the next operator after `:after` that has one, or else of the first
 * operator. So the operators take turns, however many grants of one wait.
 * @param waiting the condition of a partial index by provider, operator and number
 */
const inTurn = (waiting: string) => {
  const first = (ofOperators: string) => `
    (SELECT grant_no FROM free_spin_grants g
      WHERE provider_id = :providerId AND ${ofOperators} AND ${waiting}
      ORDER BY operator_id, grant_no LIMIT 1 FOR UPDATE SKIP LOCKED)`;
  return `coalesce(${first('operator_id > :after')}, ${first('operator_id <= :after')})`;
};

/** Claims a provider's next unsent grant. The claim is committed before the call, so that no grant is sent twice. */
export const CLAIM_UNSENT = named(
  'grant_claim_unsent',
  `UPDATE free_spin_grants g
      SET attempt = attempt + 1, lease_until = ${LEASE_END}, updated_at = clock_timestamp()
    WHERE grant_no = ${inTurn(UNSENT)}
   RETURNING ${selectList(Grant, 'g')}`,
);

/** Condition for a due cancel that is not claimed, or whose lease has expired. */
const CANCEL_WAITS = `state = 'GRANTED' AND cancel_due
                          AND (cancel_lease_until IS NULL OR cancel_lease_until <= clock_timestamp())`;

/**
 * Condition for a due cancel of `g` that must not be sent: it is the expiry of a grant that is now known to be completed,
 * or it would void a newer grant.
 */
const IS_MOOT = `(coalesce(completed AND expiry = 'BEGUN', false) OR NOT ${HAS_NO_SUCCESSOR})`;

/**
 * Claims a provider's next due cancel, for a grant that has expired, was voided or whose batch was cancelled. It stays due
 * until an outcome is recorded, so that another instance repeats it after a crash.
 */
export const CLAIM_DUE_CANCEL = named(
  'grant_claim_due_cancel',
  `UPDATE free_spin_grants g
      SET cancel_attempt = cancel_attempt + 1, cancel_lease_until = ${LEASE_END}, updated_at = clock_timestamp()
    WHERE grant_no = ${inTurn(`${CANCEL_WAITS} AND NOT ${IS_MOOT}`)}
   RETURNING ${selectList(Grant, 'g')}, cancel_attempt AS "cancelAttempt"`,
);

/**
 * Ends the cancels that are due but must not be sent any more. The condition on `completed` and `duplicate_of` repeats a
 * part of `IS_MOOT`, so that PostgreSQL can use the index.
 */
export const END_MOOT_CANCELS = named(
  'grant_end_moot_cancels',
  `UPDATE free_spin_grants g
      SET cancel_due = false, cancel_lease_until = NULL, expiry = nullif(expiry, 'BEGUN'), updated_at = clock_timestamp()
    WHERE ${CANCEL_WAITS} AND (completed OR duplicate_of IS NOT NULL) AND ${IS_MOOT}`,
);

/** The number of the first grant of a provider `p` that waits, by a partial index as in `inTurn`. */
const firstOf = (waiting: string) =>
  lookUp(
    'g.grant_no',
    `FROM free_spin_grants g WHERE g.provider_id = p.id AND ${waiting} ORDER BY g.operator_id, g.grant_no LIMIT 1`,
  );

/** Selects the providers with unsent grants, or with cancels that are due and not under way. */
export const PROVIDERS_WITH_WORK = named(
  'grant_providers_with_work',
  `SELECT p.id AS "providerId" FROM tenants p
    WHERE p.kind = 'PROVIDER' AND (${firstOf(UNSENT)} IS NOT NULL OR ${firstOf(CANCEL_WAITS)} IS NOT NULL)`,
);

/**
 * Fails the unsent grants of a batch. `outcome_unknown` is kept: it is true for a grant that waits to be resent and may
 * have been booked by an earlier attempt.
 */
const FAIL_UNSENT = named(
  'grant_fail_unsent',
  `UPDATE free_spin_grants
      SET state = 'FAILED', failure_error = :error, updated_at = clock_timestamp()
    WHERE batch_id = :batchId AND ${UNSENT}
   RETURNING ${REACHED}`,
);

/** Fails unsent grants that have expired. `outcome_unknown` is kept, as in FAIL_UNSENT. */
export const FAIL_EXPIRED = named(
  'grant_fail_expired',
  `UPDATE free_spin_grants
      SET state = 'FAILED', failure_error = :error, updated_at = clock_timestamp()
    WHERE grant_no = ANY (ARRAY(
      SELECT grant_no FROM free_spin_grants
       WHERE ${UNSENT} AND expires_at <= statement_timestamp()
       ORDER BY expires_at LIMIT :limit FOR UPDATE SKIP LOCKED))
   RETURNING ${REACHED}`,
);

/**
 * Makes the cancel of expired grants due, which is then sent as the cancels of a batch are. While another cancel is due or
 * under way, the expiry waits for its outcome. A grant that is known to be completed has no spins left, and a duplicate
 * none of its own: the `externalRef` of either may name the spins of another grant. The new number of the cancel keeps a
 * late failure of an earlier cancel from counting as this one's.
 */
export const BEGIN_EXPIRIES = named(
  'grant_begin_expiries',
  `UPDATE free_spin_grants
      SET expiry = 'BEGUN', cancel_due = true, cancel_request_id = NULL, cancel_attempt = cancel_attempt + 1,
          cancel_lease_until = NULL, updated_at = clock_timestamp()
    WHERE grant_no = ANY (ARRAY(
      SELECT grant_no FROM free_spin_grants
       WHERE state = 'GRANTED' AND expires_at <= statement_timestamp() AND expiry IS NULL
         AND completed IS NOT TRUE AND duplicate_of IS NULL AND NOT cancel_due
         AND (cancel_lease_until IS NULL OR cancel_lease_until <= clock_timestamp())
       ORDER BY expires_at LIMIT :limit FOR UPDATE SKIP LOCKED))
   RETURNING request_ref`,
);

/**
 * Fails the cancels of a batch that are due and not under way, when its provider counts as down. Expiries are still sent,
 * because no person repeats them.
 */
const FAIL_CANCELS = named(
  'grant_fail_cancels',
  `UPDATE free_spin_grants
      SET cancel_due = false, last_cancel_error = :error, updated_at = clock_timestamp()
    WHERE batch_id = :batchId AND ${CANCEL_WAITS} AND expiry IS DISTINCT FROM 'BEGUN'
   RETURNING request_ref`,
);

/** Reads and writes the queue of unsent grants and due cancels; every update is conditional on the current state. */
@Injectable()
export class QueueStore {
  private readonly leaseSeconds: number;

  constructor(
    private readonly database: Database,
    private readonly grants: GrantStore,
    configuration: Configuration,
  ) {
    this.leaseSeconds = callbackLeaseSeconds(configuration);
  }

  /**
   * Makes the cancel of expired grants due.
   * @param limit maximum number of grants
   * @returns their number
   */
  async beginExpiries(limit: number): Promise<number> {
    return (await this.database.query(BEGIN_EXPIRIES, { limit })).length;
  }

  /**
   * Fails unsent grants that have expired, at most `limit`.
   * @returns the number of grants that failed
   */
  async failExpired(error: string, limit: number): Promise<number> {
    return this.grants.count(await this.database.query<Reached>(FAIL_EXPIRED, { error, limit })).length;
  }

  async endMootCancels(): Promise<void> {
    await this.database.query(END_MOOT_CANCELS, {});
  }

  async providersWithWork(): Promise<string[]> {
    const rows = await this.database.query<{ providerId: string }>(PROVIDERS_WITH_WORK, {});
    return rows.map(({ providerId }) => providerId);
  }

  /**
   * Claims a provider's next due cancel.
   * @param after the operator that was served last; the next one has its turn
   */
  claimDueCancel(providerId: string, after: string): Promise<ClaimedCancel | undefined> {
    const values = { providerId, after, leaseSeconds: this.leaseSeconds };
    return claimWith(this.database.query, CLAIM_DUE_CANCEL, values);
  }

  /**
   * Claims the next unsent grant of a provider. Once the claim is committed, no other instance sends the grant.
   * @param after the operator that was served last; the next one has its turn
   */
  claimUnsent(providerId: string, after: string): Promise<ClaimedGrant | undefined> {
    const values = { providerId, after, leaseSeconds: this.leaseSeconds };
    return claimWith(this.database.query, CLAIM_UNSENT, values);
  }

  /** @returns the number of cancels that failed */
  async failCancels(batchId: string, error: string): Promise<number> {
    return (await this.database.query(FAIL_CANCELS, { batchId, error })).length;
  }

  /** @returns the number of grants that failed */
  async failUnsent(batchId: string, error: string): Promise<number> {
    const failed = await this.database.query<Reached>(FAIL_UNSENT, { batchId, error });
    return this.grants.count(failed).length;
  }
}
