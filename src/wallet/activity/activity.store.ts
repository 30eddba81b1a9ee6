import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { named } from '../../database/statement.js';
import type { MinuteCounts } from './minute-counts.js';

/** The minutes that the live view shows, the current one included. */
export const MINUTES_SHOWN = 60;
/** Maximum number of rows of each table that one statement removes. */
const MAX_REMOVED = 5_000;

/** The transactions that were counted in a minute, over all instances. */
export interface ActivityOfMinute {
  readonly minute: Date;
  readonly bets: number;
  readonly wins: number;
  readonly rollbacks: number;
  readonly declined: number;
  readonly undecided: number;
  readonly refused: number;
}

/** The amounts of the last hour in one currency, in minor units. */
export interface AmountsOfHour {
  readonly currency: string;
  readonly betMinor: number;
  readonly winMinor: number;
}

/** Stores counts. They replace earlier counts of the same minutes, so that nothing is counted twice. */
const SHARE = named(
  'activity_share',
  `
    WITH counts AS (
      SELECT to_timestamp(number * 60) AS minute, c.*
        FROM jsonb_to_recordset(:counts::jsonb) AS c(number bigint, bets integer, wins integer, rollbacks integer,
             declined integer, undecided integer, refused integer, amounts jsonb)
    ), shared AS (
      INSERT INTO activity_minutes (minute, instance_id, bets, wins, rollbacks, declined, undecided, refused)
      SELECT minute, :instanceId, bets, wins, rollbacks, declined, undecided, refused FROM counts
      ON CONFLICT (minute, instance_id) DO UPDATE
         SET bets = excluded.bets, wins = excluded.wins, rollbacks = excluded.rollbacks, declined = excluded.declined,
             undecided = excluded.undecided, refused = excluded.refused
    )
    INSERT INTO activity_amounts (minute, instance_id, currency, bet_minor, win_minor)
    SELECT counts.minute, :instanceId, a.currency, a."betMinor", a."winMinor"
      FROM counts, jsonb_to_recordset(counts.amounts) AS a(currency text, "betMinor" bigint, "winMinor" bigint)
    ON CONFLICT (minute, instance_id, currency) DO UPDATE
       SET bet_minor = excluded.bet_minor, win_minor = excluded.win_minor`,
);

const SHOWN = `minute > date_trunc('minute', statement_timestamp(), 'UTC') - interval '${MINUTES_SHOWN} minutes'`;

/** Every minute that is shown, oldest first, even if nothing was counted in it. */
export const READ_MINUTES = named(
  'activity_read_minutes',
  `
    SELECT m.minute, coalesce(sum(bets), 0)::integer AS bets, coalesce(sum(wins), 0)::integer AS wins,
           coalesce(sum(rollbacks), 0)::integer AS rollbacks, coalesce(sum(declined), 0)::integer AS declined,
           coalesce(sum(undecided), 0)::integer AS undecided, coalesce(sum(refused), 0)::integer AS refused
      FROM (SELECT date_trunc('minute', statement_timestamp(), 'UTC') - make_interval(mins => ago) AS minute
              FROM generate_series(0, ${MINUTES_SHOWN - 1}) AS ago) m
      LEFT JOIN (SELECT * FROM activity_minutes WHERE ${SHOWN}) counted ON counted.minute = m.minute
     GROUP BY m.minute ORDER BY m.minute`,
);

/**
 * The sums are not negative: a ROLLBACK is subtracted in the minute of its BET, but the clocks of instances differ, so
 * that a BET may leave the hour a moment before its ROLLBACK.
 */
export const READ_AMOUNTS = named(
  'activity_read_amounts',
  `
    SELECT currency, least(greatest(sum(bet_minor), 0), ${Number.MAX_SAFE_INTEGER})::bigint AS "betMinor",
           least(greatest(sum(win_minor), 0), ${Number.MAX_SAFE_INTEGER})::bigint AS "winMinor"
      FROM activity_amounts WHERE ${SHOWN}
     GROUP BY currency ORDER BY currency`,
);

/** Deletes rows that are no longer shown, except those that another instance is removing. */
const removeOld = (table: string) =>
  named(
    `activity_remove_old_${table}`,
    `
    DELETE FROM activity_${table} WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM activity_${table} WHERE minute < statement_timestamp() - interval '${MINUTES_SHOWN + 1} minutes'
       LIMIT ${MAX_REMOVED} FOR UPDATE SKIP LOCKED))`,
  );
const REMOVE_OLD_MINUTES = removeOld('minutes');
const REMOVE_OLD_AMOUNTS = removeOld('amounts');

/** The counts of all instances in the last hour. */
@Injectable()
export class ActivityStore {
  constructor(private readonly database: Database) {}

  /** Stores an instance's counts of some minutes. */
  async share(instanceId: string, minutes: readonly MinuteCounts[]): Promise<void> {
    const counts = minutes.map(({ amounts, changed, ...counted }) => ({
      ...counted,
      amounts: [...amounts].map(([currency, { betMinor, winMinor }]) => ({
        currency,
        betMinor: clamped(betMinor),
        winMinor: clamped(winMinor),
      })),
    }));
    await this.database.query(SHARE, { instanceId, counts: JSON.stringify(counts) });
  }

  minutes(): Promise<ActivityOfMinute[]> {
    return this.database.query<ActivityOfMinute>(READ_MINUTES, {});
  }

  /** The currencies in which something was approved or taken back, by code. */
  amounts(): Promise<AmountsOfHour[]> {
    return this.database.query<AmountsOfHour>(READ_AMOUNTS, {});
  }

  async removeOld(): Promise<void> {
    await this.database.query(REMOVE_OLD_MINUTES, {});
    await this.database.query(REMOVE_OLD_AMOUNTS, {});
  }
}

/** The amount within ±(2^53−1): JSON has larger ones inexactly, and a `bigint` only up to 2^63−1. */
function clamped(minor: number): number {
  return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(minor, Number.MAX_SAFE_INTEGER));
}
