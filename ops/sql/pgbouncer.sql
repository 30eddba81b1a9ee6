-- Needed with PgBouncer, which does not pass on the settings of client connections: this file sets them on the roles
-- instead. Run it after ops/sql/roles.sql and after each upgrade that changes it, as a superuser or with CREATEROLE:
--   psql -d croupier -f ops/sql/pgbouncer.sql
-- Then give croupier_group_commit a password, and set GROUP_COMMIT_DATABASE_URL to a URL with this role.

-- The rights of croupier_service, with the settings of group commit.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'croupier_group_commit') THEN
    CREATE ROLE croupier_group_commit LOGIN IN ROLE croupier_service;
  END IF;
END $$;

-- The settings on which the meaning of statements depends. The service does not start if one has another value.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['croupier_owner', 'croupier_service', 'croupier_group_commit'] LOOP
    EXECUTE format('ALTER ROLE %I SET DateStyle = ISO, MDY', name);
    EXECUTE format('ALTER ROLE %I SET IntervalStyle = postgres', name);
    EXECUTE format('ALTER ROLE %I SET TimeZone = ''UTC''', name);
    EXECUTE format('ALTER ROLE %I SET client_encoding = UTF8', name);
    EXECUTE format('ALTER ROLE %I SET standard_conforming_strings = on', name);
    EXECUTE format('ALTER ROLE %I SET bytea_output = hex', name);
    EXECUTE format('ALTER ROLE %I SET extra_float_digits = 1', name);
    EXECUTE format('ALTER ROLE %I SET array_nulls = on', name);
    EXECUTE format('ALTER ROLE %I SET default_transaction_isolation = ''read committed''', name);
    EXECUTE format('ALTER ROLE %I SET default_transaction_read_only = off', name);
    EXECUTE format('ALTER ROLE %I SET default_transaction_deferrable = off', name);
    EXECUTE format('ALTER ROLE %I SET synchronous_commit = on', name);
    EXECUTE format('ALTER ROLE %I SET exit_on_error = off', name);
    EXECUTE format('ALTER ROLE %I SET search_path = "$user", public', name);
  END LOOP;
  IF current_setting('server_version_num')::integer >= 170000 THEN
    FOREACH name IN ARRAY ARRAY['croupier_owner', 'croupier_service', 'croupier_group_commit'] LOOP
      EXECUTE format('ALTER ROLE %I SET transaction_timeout = 0', name);
    END LOOP;
  END IF;
END $$;

ALTER ROLE croupier_service SET statement_timeout = '10s';
ALTER ROLE croupier_service SET lock_timeout = 0;
ALTER ROLE croupier_service SET idle_in_transaction_session_timeout = '10s';
ALTER ROLE croupier_service SET idle_session_timeout = 0;
ALTER ROLE croupier_service SET jit = off;

ALTER ROLE croupier_group_commit SET statement_timeout = '2s';
ALTER ROLE croupier_group_commit SET lock_timeout = '50ms';
ALTER ROLE croupier_group_commit SET idle_session_timeout = 0;
ALTER ROLE croupier_group_commit SET plan_cache_mode = 'force_generic_plan';
ALTER ROLE croupier_group_commit SET jit = off;
ALTER ROLE croupier_group_commit SET cpu_index_tuple_cost = 100;
ALTER ROLE croupier_group_commit SET enable_seqscan = off;
ALTER ROLE croupier_group_commit SET enable_hashjoin = off;
ALTER ROLE croupier_group_commit SET enable_mergejoin = off;
