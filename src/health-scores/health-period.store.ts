import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { named } from '../database/statement.js';
import type { PeriodCounts } from './calls-of-period.js';
import { LATENCY_CELLS, type WindowMinutes } from './rules/score.js';

/**
 * How long a breaker counts as open after an instance last stored it as open, in seconds. This is more than twice the
 * interval at which an instance stores its counts.
 */
const BREAKER_SHOWN_SECONDS = 5;
/** The instance of rows with the counts of several instances. */
const ALL_INSTANCES = '00000000-0000-0000-0000-000000000000';

/**
 * The counts of calls to a tenant by age: `minutes` is 1 for the last minute, 5 for the four minutes before it, and 60
 * for the rest of the last hour.
 */
export interface CallsWithin extends PeriodCounts {
  readonly minutes: WindowMinutes;
}

/** Stores counts. They replace earlier counts of the same period, so that no call is counted twice. */
const SHARE = named(
  'health_share',
  `
    INSERT INTO health_periods (tenant_id, started_at, instance_id, calls, succeeded, timeouts, latency, breaker_open_until)
    SELECT c."tenantId", :startedAt::timestamptz, :instanceId::uuid, c.calls, c.succeeded, c.timeouts, c.latency,
           CASE WHEN c."breakerOpen" THEN clock_timestamp() + interval '${BREAKER_SHOWN_SECONDS} seconds' END
      FROM jsonb_to_recordset(:counts::jsonb) AS c("tenantId" text, calls integer, succeeded integer, timeouts integer,
                                              latency integer[], "breakerOpen" boolean)
    ON CONFLICT (tenant_id, started_at, instance_id) DO UPDATE
       SET calls = excluded.calls, succeeded = excluded.succeeded, timeouts = excluded.timeouts,
           latency = excluded.latency, breaker_open_until = excluded.breaker_open_until`,
);

const CELLS = Array.from({ length: LATENCY_CELLS }, (_, cell) => `latency[${cell + 1}]`);

/**
 * Moves an instance's counts of a period to the rows that all instances share, so that readers read one row for a tenant
 * and ten seconds. Its repetition moves nothing. All instances lock the rows in the same order, so that they do not
 * deadlock.
 */
export const MERGE = named(
  'health_merge',
  `
    WITH own AS (
      DELETE FROM health_periods WHERE started_at = :startedAt::timestamptz AND instance_id = :instanceId::uuid
      RETURNING *)
    INSERT INTO health_periods AS shared (tenant_id, started_at, instance_id, calls, succeeded, timeouts, latency)
    SELECT tenant_id, date_bin('10 seconds', started_at + interval '5 seconds', 'epoch'), '${ALL_INSTANCES}', calls, succeeded, timeouts, latency
      FROM own ORDER BY tenant_id
    ON CONFLICT (tenant_id, started_at, instance_id) DO UPDATE
       SET calls = shared.calls + excluded.calls, succeeded = shared.succeeded + excluded.succeeded,
           timeouts = shared.timeouts + excluded.timeouts,
           latency = ARRAY[${CELLS.map((cell) => `shared.${cell} + excluded.${cell}`).join(', ')}]`,
);

export const READ = named(
  'health_read',
  `
    SELECT tenant_id AS "tenantId",
           CASE WHEN started_at > clock_timestamp() - interval '1 minute' THEN 1
                WHEN started_at > clock_timestamp() - interval '5 minutes' THEN 5 ELSE 60 END AS minutes,
           sum(calls)::integer AS calls, sum(succeeded)::integer AS succeeded, sum(timeouts)::integer AS timeouts,
           ARRAY[${CELLS.map((cell) => `sum(${cell})`).join(', ')}]::integer[] AS latency,
           coalesce(bool_or(breaker_open_until > clock_timestamp()), false) AS "breakerOpen"
      FROM health_periods
     WHERE tenant_id = ANY (:tenantIds::text[]) AND started_at > statement_timestamp() - make_interval(mins => :minutes)
     GROUP BY 1, 2`,
);

/** Deletes rows that no window needs any more, except those that another instance is removing. */
export const REMOVE_OLD = named(
  'health_remove_old',
  `
    DELETE FROM health_periods WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM health_periods WHERE started_at < statement_timestamp() - interval '61 minutes'
       ORDER BY started_at LIMIT :limit FOR UPDATE SKIP LOCKED))`,
);

@Injectable()
export class HealthPeriodStore {
  constructor(private readonly database: Database) {}

  async share(instanceId: string, startedAt: Date, counts: readonly PeriodCounts[]): Promise<void> {
    await this.database.query(SHARE, { instanceId, startedAt, counts: JSON.stringify(counts) });
  }

  /** Merges an instance's counts of a period, which it does not share again, with those of the other instances. */
  async merge(instanceId: string, startedAt: Date): Promise<void> {
    await this.database.query(MERGE, { instanceId, startedAt });
  }

  /**
   * Reads the calls of the last `minutes`. A tenant has no rows if it was not called and its breaker was not open.
   */
  read(tenantIds: readonly string[], minutes: WindowMinutes = 60): Promise<CallsWithin[]> {
    return this.database.query<CallsWithin>(READ, { tenantIds, minutes });
  }

  /** Removes at most `limit` rows. */
  async removeOld(limit: number): Promise<void> {
    await this.database.query(REMOVE_OLD, { limit });
  }
}
