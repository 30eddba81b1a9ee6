import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

/**
 * Adds the tables of the live view. They are unlogged: after a crash of PostgreSQL they are empty, and the live view
 * counts from zero. The previous release ignores them.
 */
export class LiveView1764000000043 extends ForwardMigration {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(ACTIVITY);
    await runner.query(INSTANCES);
  }
}

/**
 * A row has one instance's counts of a minute. The instance updates the rows of the current minute every two seconds.
 * Rows are removed after an hour. The amounts of a minute are negative if it took back more than it added.
 */
const ACTIVITY = `
CREATE UNLOGGED TABLE activity_minutes (
  minute       timestamptz NOT NULL CHECK (extract(epoch FROM minute) % 60 = 0),
  instance_id  text NOT NULL,
  bets         integer NOT NULL CHECK (bets >= 0),
  wins         integer NOT NULL CHECK (wins >= 0),
  rollbacks    integer NOT NULL CHECK (rollbacks >= 0),
  declined     integer NOT NULL CHECK (declined >= 0),
  undecided    integer NOT NULL CHECK (undecided >= 0),
  refused      integer NOT NULL CHECK (refused >= 0),
  PRIMARY KEY (minute, instance_id)
) WITH (fillfactor = 70);
CREATE UNLOGGED TABLE activity_amounts (
  minute       timestamptz NOT NULL,
  instance_id  text NOT NULL,
  currency     text NOT NULL,
  bet_minor    bigint NOT NULL,
  win_minor    bigint NOT NULL,
  PRIMARY KEY (minute, instance_id, currency)
) WITH (fillfactor = 70);
`;

/** A row is an instance that runs, or that stopped without removing its row. The instance updates it every two seconds. */
const INSTANCES = `
CREATE UNLOGGED TABLE instances (
  instance_id  text PRIMARY KEY,
  version      text NOT NULL,
  started_at   timestamptz NOT NULL,
  ready        boolean NOT NULL,
  seen_at      timestamptz NOT NULL
) WITH (fillfactor = 70);
`;
