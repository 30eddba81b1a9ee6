import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { named } from '../database/statement.js';

/** How long an instance is shown after it was last seen, in seconds: several times the interval at which it is seen. */
const SHOWN_SECONDS = 10;
/** Maximum number of instances that are read. */
const MAX_INSTANCES = 1_000;

export interface RunningInstance {
  readonly id: string;
  readonly version: string;
  readonly startedAt: Date;
  readonly ready: boolean;
}

/** Stores that an instance runs, and removes the rows of instances that died more than an hour ago. */
const SEEN = named(
  'instance_seen',
  `
    WITH removed AS (DELETE FROM instances WHERE seen_at < statement_timestamp() - interval '1 hour')
    INSERT INTO instances (instance_id, version, started_at, ready, seen_at)
    VALUES (:id, :version, :startedAt, :ready, statement_timestamp())
    ON CONFLICT (instance_id) DO UPDATE SET ready = excluded.ready, seen_at = excluded.seen_at`,
);

const REMOVE = named('instance_remove', 'DELETE FROM instances WHERE instance_id = :id');

const RUNNING = named(
  'instance_running',
  `
    SELECT instance_id AS id, version, started_at AS "startedAt", ready FROM instances
     WHERE seen_at > statement_timestamp() - interval '${SHOWN_SECONDS} seconds'
     ORDER BY started_at, instance_id LIMIT ${MAX_INSTANCES}`,
);

@Injectable()
export class InstanceStore {
  constructor(private readonly database: Database) {}

  async seen(instance: RunningInstance): Promise<void> {
    await this.database.query(SEEN, instance);
  }

  async remove(id: string): Promise<void> {
    await this.database.query(REMOVE, { id });
  }

  /** The oldest first. */
  running(): Promise<RunningInstance[]> {
    return this.database.query<RunningInstance>(RUNNING, {});
  }
}
