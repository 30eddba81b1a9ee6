-- Needed with PgBouncer, which does not pass on the settings of client connections: this file sets them on the roles
-- instead. Run it once after ops/sql/roles.sql, as a superuser or with CREATEROLE:
--   psql -d croupier -f ops/sql/pgbouncer.sql
-- Then give croupier_group_commit a password, and set GROUP_COMMIT_DATABASE_URL to a URL with this role.
ALTER ROLE croupier_service SET statement_timeout = '10s';
ALTER ROLE croupier_service SET idle_in_transaction_session_timeout = '10s';
ALTER ROLE croupier_service SET jit = off;

-- The rights of croupier_service, with the settings of group commit.
CREATE ROLE croupier_group_commit LOGIN IN ROLE croupier_service;
ALTER ROLE croupier_group_commit SET statement_timeout = '2s';
ALTER ROLE croupier_group_commit SET lock_timeout = '50ms';
ALTER ROLE croupier_group_commit SET plan_cache_mode = 'force_generic_plan';
ALTER ROLE croupier_group_commit SET jit = off;
ALTER ROLE croupier_group_commit SET cpu_index_tuple_cost = 100;
ALTER ROLE croupier_group_commit SET enable_seqscan = off;
ALTER ROLE croupier_group_commit SET enable_hashjoin = off;
ALTER ROLE croupier_group_commit SET enable_mergejoin = off;
