-- For PgBouncer, which accepts no settings from its clients: the roles have them. Run it once, as a superuser or with
-- CREATEROLE, after ops/sql/roles.sql: psql -d croupier -f ops/sql/pgbouncer.sql
-- Then give croupier_group_commit a password, and the service GROUP_COMMIT_DATABASE_URL with this role.
ALTER ROLE croupier_service SET statement_timeout = '10s';
ALTER ROLE croupier_service SET idle_in_transaction_session_timeout = '10s';
ALTER ROLE croupier_service SET jit = off;

-- The same rights, and a connection of its own for the statements of group commit.
CREATE ROLE croupier_group_commit LOGIN IN ROLE croupier_service;
ALTER ROLE croupier_group_commit SET statement_timeout = '2s';
ALTER ROLE croupier_group_commit SET lock_timeout = '50ms';
ALTER ROLE croupier_group_commit SET plan_cache_mode = 'force_generic_plan';
ALTER ROLE croupier_group_commit SET jit = off;
ALTER ROLE croupier_group_commit SET cpu_index_tuple_cost = 100;
ALTER ROLE croupier_group_commit SET enable_seqscan = off;
ALTER ROLE croupier_group_commit SET enable_hashjoin = off;
ALTER ROLE croupier_group_commit SET enable_mergejoin = off;
