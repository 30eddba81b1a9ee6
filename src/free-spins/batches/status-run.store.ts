import { Injectable } from '@nestjs/common';
import { Configuration } from '../../config/configuration.js';
import { Database } from '../../database/database.js';
import { lookUp } from '../../database/planner.js';
import { selectList } from '../../database/select-list.js';
import { named } from '../../database/statement.js';
import { currentRequestId } from '../../observability/trace.js';
import { callbackLeaseSeconds } from '../../provider-callback/callback-lease.js';
import { Grant } from '../grants/grant.entity.js';
import { LEASE_END } from '../grants/grant.sql.js';

/** A claimed run that asks the provider about each GRANTED grant of a batch. */
export interface StatusRun {
  readonly batchId: string;
  readonly operatorId: string;
  /** The number of the claim. */
  readonly run: number;
  /** When it was requested, as text from PostgreSQL, because a Date would lose the microseconds. */
  readonly since: string;
  /** The request id of the request; null if it had none. */
  readonly requestId: string | null;
}

const REQUEST = named(
  'status_run_request',
  `UPDATE free_spin_batches SET status_due_since = clock_timestamp(), status_request_id = :requestId
    WHERE batch_id = :batchId`,
);

/** Condition for a due run that is not claimed, or whose lease has expired. */
const WAITS =
  'status_due_since IS NOT NULL AND (status_lease_until IS NULL OR status_lease_until <= clock_timestamp())';

/** The provider of a batch `b`. All grants of a batch have the same one. */
const PROVIDER = lookUp('g.provider_id', 'FROM free_spin_grants g WHERE g.batch_id = b.batch_id LIMIT 1');

const PROVIDERS_WITH_DUE_RUNS = named(
  'status_run_providers',
  `SELECT DISTINCT ${PROVIDER} AS "providerId" FROM free_spin_batches b WHERE ${WAITS}`,
);

/**
 * Claims the run of a provider's batch that was requested first by the next operator after `:after` that has one, or else
 * by the first operator.
 */
const CLAIM = named(
  'status_run_claim',
  `UPDATE free_spin_batches
      SET status_run = status_run + 1, status_lease_until = ${LEASE_END}
    WHERE batch_id = (SELECT batch_id FROM free_spin_batches b
                       WHERE ${WAITS} AND ${PROVIDER} = :providerId
                       ORDER BY operator_id <= :after, operator_id, status_due_since LIMIT 1 FOR UPDATE SKIP LOCKED)
   RETURNING batch_id AS "batchId", operator_id AS "operatorId", status_run AS run, status_due_since::text AS since,
             status_request_id AS "requestId"`,
);

const OF_CLAIM = 'batch_id = :batchId AND status_run = :run';

const RENEW = named(
  'status_run_renew',
  `UPDATE free_spin_batches SET status_lease_until = ${LEASE_END} WHERE ${OF_CLAIM} RETURNING batch_id`,
);

const RELEASE = named(
  'status_run_release',
  `UPDATE free_spin_batches SET status_lease_until = NULL WHERE ${OF_CLAIM}`,
);

/** If the run was requested again meanwhile, it stays due. */
const END = named(
  'status_run_end',
  `UPDATE free_spin_batches
      SET status_due_since = CASE WHEN status_due_since > :since::timestamptz THEN status_due_since END,
          status_lease_until = NULL
    WHERE ${OF_CLAIM}`,
);

const GRANTS_TO_ASK = named(
  'status_run_grants',
  `SELECT ${selectList(Grant, 'g')} FROM free_spin_grants g
    WHERE batch_id = :batchId AND state = 'GRANTED'
      AND (status_checked_at IS NULL OR status_checked_at < :since::timestamptz)
    ORDER BY grant_no`,
);

/** Reads and writes the status runs of batches. */
@Injectable()
export class StatusRunStore {
  private readonly leaseSeconds: number;

  constructor(
    private readonly database: Database,
    configuration: Configuration,
  ) {
    this.leaseSeconds = callbackLeaseSeconds(configuration);
  }

  async request(batchId: string): Promise<void> {
    await this.database.query(REQUEST, { batchId, requestId: currentRequestId() });
  }

  async providersWithDueRuns(): Promise<string[]> {
    const rows = await this.database.query<{ providerId: string }>(PROVIDERS_WITH_DUE_RUNS, {});
    return rows.map(({ providerId }) => providerId);
  }

  /**
   * Claims a due run of a provider.
   * @param after the operator that was served last; the next one has its turn
   */
  async claim(providerId: string, after: string): Promise<StatusRun | undefined> {
    const values = { providerId, after, leaseSeconds: this.leaseSeconds };
    return (await this.database.query<StatusRun>(CLAIM, values))[0];
  }

  /**
   * Renews the lease, for one more call.
   * @returns false if another instance has claimed the run
   */
  async renew(run: StatusRun): Promise<boolean> {
    return (await this.database.query(RENEW, { ...run, leaseSeconds: this.leaseSeconds })).length > 0;
  }

  /** Gives the claim up, so that another instance continues at once. */
  async release(run: StatusRun): Promise<void> {
    await this.database.query(RELEASE, run);
  }

  async end(run: StatusRun): Promise<void> {
    await this.database.query(END, run);
  }

  /** The GRANTED grants about which the provider has not answered since the request; at most 1,000, as a batch has. */
  grantsToAsk(run: StatusRun): Promise<Grant[]> {
    return this.database.query(GRANTS_TO_ASK, run);
  }
}
