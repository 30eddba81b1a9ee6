import type { QueryRunner } from 'typeorm';
import { indexConcurrently } from './concurrent-index.js';
import { ForwardMigration } from './forward-migration.js';

/** Number of months that have partitions after this migration, including the current one. */
const FIRST_MONTHS = 4;

/**
 * Divides the callbacks and the audit log into monthly partitions. Each existing table becomes the partition of all
 * months so far, without a copy. The slow parts, an index and the validation of a bound, run first and block no
 * statement. The exchange of the tables then only changes the catalogue. The previous version's statements work on the
 * partitioned tables.
 *
 * Runs without a transaction, because CREATE INDEX CONCURRENTLY cannot run in one. Each step can be repeated.
 */
export class MonthlyPartitions1764000000011 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(FUNCTIONS);
    await prepareCallbacks(runner);
    await prepareAudit(runner);
    await exchange(runner, 'callbacks', CALLBACKS);
    await exchange(runner, 'audit_entries', AUDIT);
  }
}

async function prepareCallbacks(runner: QueryRunner): Promise<void> {
  if (await isPartitioned(runner, 'callbacks')) return;
  // The primary key of a partitioned table must contain its partition key.
  await indexConcurrently(runner, 'callbacks_of_id', 'callbacks (callback_id, created_at)', 'UNIQUE INDEX');
  await boundRows(runner, 'callbacks', 'created_at');
}

async function prepareAudit(runner: QueryRunner): Promise<void> {
  if (!(await isPartitioned(runner, 'audit_entries'))) await boundRows(runner, 'audit_entries', 'day');
}

/**
 * Adds a CHECK that all rows are older than the end of this month, or of the next month if this one is nearly over.
 * With this CHECK, PostgreSQL can attach the table as a partition without scanning it.
 */
async function boundRows(runner: QueryRunner, table: string, column: string): Promise<void> {
  const [bound] = (await runner.query(`SELECT month_bound('${table}', partition_start()) AS text`)) as [
    { text: string },
  ];
  await runner.query(`ALTER TABLE ${table} DROP CONSTRAINT IF EXISTS ${table}_so_far`);
  await runner.query(
    `ALTER TABLE ${table} ADD CONSTRAINT ${table}_so_far CHECK (${column} < '${bound.text}') NOT VALID`,
  );
  await runner.query(`ALTER TABLE ${table} VALIDATE CONSTRAINT ${table}_so_far`);
}

/** Replaces a table with a partitioned one, in one transaction. */
async function exchange(runner: QueryRunner, table: string, statements: string): Promise<void> {
  if (await isPartitioned(runner, table)) return;
  await runner.startTransaction();
  try {
    await runner.query(statements);
    for (let month = 0; month < FIRST_MONTHS - 1; month += 1) {
      await runner.query(
        `SELECT make_partition('${table}', (partition_start() + interval '${month} months')::date)`,
      );
    }
    await runner.commitTransaction();
  } catch (error) {
    await runner.rollbackTransaction();
    throw error;
  }
}

async function isPartitioned(runner: QueryRunner, table: string): Promise<boolean> {
  const rows = (await runner.query(
    `SELECT FROM pg_partitioned_table WHERE partrelid = '${table}'::regclass`,
  )) as object[];
  return rows.length > 0;
}

/**
 * A partition is named after its table and its month, such as `callbacks_2026_12`. The partition of all earlier months
 * is `…_so_far`. Rows without a partition go to `…_default`, which stays empty as long as partitions are made ahead.
 */
const FUNCTIONS = `
-- The first day of the next month that begins after tomorrow: that month does not begin before the exchange is done.
CREATE OR REPLACE FUNCTION partition_start() RETURNS date LANGUAGE sql STABLE AS $$
  SELECT (date_trunc('month', (clock_timestamp() + interval '1 day') AT TIME ZONE 'UTC') + interval '1 month')::date
$$;

-- The beginning of a month as a partition bound: a date for the audit log, an instant in UTC for other tables.
CREATE OR REPLACE FUNCTION month_bound(parent text, month date) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE parent WHEN 'audit_entries' THEN month::text ELSE month::text || ' 00:00:00+00' END
$$;

-- The end of the last partition. The partitions before it have no gaps; later rows are in the default partition.
CREATE OR REPLACE FUNCTION partitions_end(parent text) RETURNS date LANGUAGE sql STABLE AS $$
  SELECT max(CASE parent WHEN 'audit_entries' THEN bound::date ELSE (bound::timestamptz AT TIME ZONE 'UTC')::date END)
    FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid,
         substring(pg_get_expr(c.relpartbound, c.oid) FROM 'TO \\(''([^'']+)''\\)') AS bound
   WHERE inhparent = parent::regclass
$$;

-- Creates a month's partition and returns its name, or null if the month has one. Statements that reach
-- the default partition wait meanwhile; all others continue.
CREATE OR REPLACE FUNCTION make_partition(parent text, month date) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  name text := parent || to_char(month, '_YYYY_MM');
BEGIN
  IF month < partitions_end(parent) THEN RETURN NULL; END IF;
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', name, parent);
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, name,
                 month_bound(parent, month), month_bound(parent, (month + interval '1 month')::date));
  PERFORM close_partition(parent, name);
  RETURN name;
END $$;

-- Moves the rows of the default partition to a partition of their own, without copying them; returns its name, or null
-- if there are none.
CREATE OR REPLACE FUNCTION adopt_default(parent text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  default_name text := parent || '_default';
  name text;
  first_month date;
  last_month date;
BEGIN
  EXECUTE format('SELECT date_trunc(''month'', min(%1$s)), date_trunc(''month'', max(%1$s)) FROM %2$I',
                 CASE parent WHEN 'audit_entries' THEN 'day::timestamp' ELSE 'created_at AT TIME ZONE ''UTC''' END,
                 default_name) INTO first_month, last_month;
  IF first_month IS NULL THEN RETURN NULL; END IF;
  name := parent || to_char(first_month, '_YYYY_MM') || to_char(last_month, '_"to"_YYYY_MM');
  EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', parent, default_name);
  EXECUTE format('ALTER TABLE %I RENAME TO %I', default_name, name);
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, name,
                 month_bound(parent, first_month), month_bound(parent, (last_month + interval '1 month')::date));
  EXECUTE format('CREATE TABLE %I PARTITION OF %I DEFAULT', default_name, parent);
  PERFORM close_partition(parent, default_name);
  RETURN name;
END $$;

-- Lets only the owner access a partition directly, because the table's rights do not apply to such access. A partition
-- of the audit log also becomes append-only.
CREATE OR REPLACE FUNCTION close_partition(parent text, name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  grantee text;
BEGIN
  FOR grantee IN SELECT DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END
                   FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = name::regclass AND a.grantee <> c.relowner LOOP
    EXECUTE format('REVOKE ALL ON %I FROM %s', name, grantee);
  END LOOP;
  IF parent = 'audit_entries' THEN
    EXECUTE format('CREATE TRIGGER audit_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON %I
                      FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse()', name);
  END IF;
END $$;

-- Gives the new table the owner and the privileges of the previous one.
CREATE OR REPLACE FUNCTION copy_rights(before regclass, after text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  r record;
BEGIN
  EXECUTE format('ALTER TABLE %I OWNER TO %s', after, (SELECT relowner::regrole FROM pg_class WHERE oid = before));
  PERFORM close_partition('', after);
  FOR r IN SELECT a.privilege_type, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS grantee
             FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = before AND a.grantee <> c.relowner LOOP
    EXECUTE format('GRANT %s ON %I TO %s', r.privilege_type, after, r.grantee);
  END LOOP;
END $$;
`;

const CALLBACKS = `
ALTER TABLE callbacks RENAME TO callbacks_so_far;
ALTER TABLE callbacks_so_far ALTER COLUMN callback_id DROP IDENTITY;
ALTER TABLE callbacks_so_far DROP CONSTRAINT callbacks_pkey, ADD PRIMARY KEY USING INDEX callbacks_of_id;
ALTER INDEX callbacks_by_time RENAME TO callbacks_so_far_by_time;
ALTER INDEX callbacks_of_provider RENAME TO callbacks_so_far_of_provider;
ALTER INDEX callbacks_of_route RENAME TO callbacks_so_far_of_route;
ALTER INDEX callbacks_of_reference RENAME TO callbacks_so_far_of_reference;

CREATE TABLE callbacks (LIKE callbacks_so_far INCLUDING DEFAULTS INCLUDING CONSTRAINTS) PARTITION BY RANGE (created_at);
ALTER TABLE callbacks DROP CONSTRAINT callbacks_so_far;
ALTER TABLE callbacks ADD PRIMARY KEY (callback_id, created_at),
  ALTER COLUMN callback_id ADD GENERATED ALWAYS AS IDENTITY;
CREATE INDEX callbacks_by_time ON callbacks (created_at, callback_id);
CREATE INDEX callbacks_of_provider ON callbacks (provider_id, created_at, callback_id);
CREATE INDEX callbacks_of_route ON callbacks (route, created_at, callback_id);
CREATE INDEX callbacks_of_reference ON callbacks (reference, created_at, callback_id);
SELECT setval(pg_get_serial_sequence('callbacks', 'callback_id'), greatest(max(callback_id), 1)) FROM callbacks_so_far;
SELECT copy_rights('callbacks_so_far', 'callbacks');
DO $$ BEGIN
  EXECUTE format('ALTER TABLE callbacks ATTACH PARTITION callbacks_so_far FOR VALUES FROM (MINVALUE) TO (%L)',
                 month_bound('callbacks', partition_start()));
END $$;
CREATE TABLE callbacks_default PARTITION OF callbacks DEFAULT;
SELECT close_partition('callbacks', 'callbacks_default');
`;

/**
 * PostgreSQL chooses the partition of a row by its `day` before the row's trigger runs; the trigger then checks this
 * day. The lock is taken before the default of `day` is computed, so that the default and the trigger see the same last
 * entry. The hash needs no unique index, because it covers the day and the position, which are unique.
 */
const AUDIT = `
ALTER TABLE audit_entries RENAME TO audit_entries_so_far;
DROP TRIGGER audit_entries_chain ON audit_entries_so_far;
ALTER TABLE audit_entries_so_far DROP CONSTRAINT audit_entries_hash_key;
ALTER INDEX audit_entries_pkey RENAME TO audit_entries_so_far_pkey;
ALTER INDEX audit_entries_created_at RENAME TO audit_entries_so_far_created_at;
ALTER INDEX audit_entries_actor RENAME TO audit_entries_so_far_actor;
ALTER INDEX audit_entries_action RENAME TO audit_entries_so_far_action;
ALTER INDEX audit_entries_target RENAME TO audit_entries_so_far_target;
ALTER INDEX audit_entries_outcome RENAME TO audit_entries_so_far_outcome;
ALTER INDEX audit_entries_request_id RENAME TO audit_entries_so_far_request_id;

CREATE TABLE audit_entries (LIKE audit_entries_so_far INCLUDING DEFAULTS INCLUDING CONSTRAINTS) PARTITION BY RANGE (day);
ALTER TABLE audit_entries DROP CONSTRAINT audit_entries_so_far;
ALTER TABLE audit_entries ADD PRIMARY KEY (day, position);
CREATE INDEX audit_entries_created_at ON audit_entries (created_at);
CREATE INDEX audit_entries_actor ON audit_entries (actor, day, position);
CREATE INDEX audit_entries_action ON audit_entries (action, day, position);
CREATE INDEX audit_entries_target ON audit_entries (target, day, position);
CREATE INDEX audit_entries_outcome ON audit_entries (outcome, day, position) WHERE outcome <> 'done';
CREATE INDEX audit_entries_request_id ON audit_entries (request_id, day, position);

DROP FUNCTION audit_entry_hash;
CREATE FUNCTION audit_entry_hash(e audit_entries) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
  SELECT audit_digest(VARIADIC ARRAY['croupier audit', CASE WHEN e.outcome IS NULL THEN 'entry' ELSE 'entry with outcome' END,
      encode(e.previous_hash, 'hex'), e.day::text, e.position::text, audit_moment(e.created_at), e.actor, e.role,
      e.action, e.target, e.before::text, e.after::text, e.address, e.request_id]
    || CASE WHEN e.outcome IS NULL THEN ARRAY[]::text[] ELSE ARRAY[e.actor_name, e.outcome] END)
$$;

CREATE FUNCTION audit_next_day() RETURNS date LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  last_moment timestamptz;
BEGIN
  SELECT created_at INTO last_moment FROM audit_entries ORDER BY day DESC, position DESC LIMIT 1;
  RETURN (greatest(date_trunc('milliseconds', audit_now()), last_moment) AT TIME ZONE 'UTC')::date;
END $$;
ALTER TABLE audit_entries ALTER COLUMN day SET DEFAULT audit_next_day();

CREATE FUNCTION audit_lock() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(7300003);
  RETURN NULL;
END $$;
CREATE TRIGGER audit_entries_lock BEFORE INSERT ON audit_entries FOR EACH STATEMENT EXECUTE FUNCTION audit_lock();

CREATE OR REPLACE FUNCTION audit_chain() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  last audit_entries;
  today date;
BEGIN
  PERFORM pg_advisory_xact_lock(7300003);
  SELECT * INTO last FROM audit_entries ORDER BY day DESC, position DESC LIMIT 1;
  -- If the clock was set back, the entry gets the time of the last entry.
  NEW.created_at := greatest(date_trunc('milliseconds', audit_now()), last.created_at);
  today := (NEW.created_at AT TIME ZONE 'UTC')::date;
  -- If midnight has passed since the row's partition was chosen, the row becomes the last one of the previous day.
  IF NEW.day = today - 1 AND NEW.day >= coalesce(last.day, NEW.day)
     AND NEW.created_at < (today + time '00:01') AT TIME ZONE 'UTC' THEN
    NEW.created_at := (today::timestamp AT TIME ZONE 'UTC') - interval '1 millisecond';
  ELSIF NEW.day IS DISTINCT FROM today THEN
    RAISE EXCEPTION 'an entry of the audit log is of the day on which it is written';
  END IF;
  IF last.day IS NULL THEN
    NEW.position := 1;
    NEW.previous_hash := audit_digest('croupier audit', 'beginning');
  ELSIF last.day = NEW.day THEN
    NEW.position := last.position + 1;
    NEW.previous_hash := last.hash;
  ELSE
    NEW.position := 1;
    NEW.previous_hash := audit_digest('croupier audit', 'day', last.day::text, last.position::text,
                                      encode(last.hash, 'hex'));
  END IF;
  NEW.hash := audit_entry_hash(NEW);
  RETURN NEW;
END $$;
CREATE TRIGGER audit_entries_chain BEFORE INSERT ON audit_entries
  FOR EACH ROW EXECUTE FUNCTION audit_chain();
CREATE TRIGGER audit_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entries
  FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse();
SELECT copy_rights('audit_entries_so_far', 'audit_entries');
DO $$ BEGIN
  EXECUTE format('ALTER TABLE audit_entries ATTACH PARTITION audit_entries_so_far FOR VALUES FROM (MINVALUE) TO (%L)',
                 month_bound('audit_entries', partition_start()));
END $$;
CREATE TABLE audit_entries_default PARTITION OF audit_entries DEFAULT;
SELECT close_partition('audit_entries', 'audit_entries_default');
`;
