-- What the service may do, as croupier_owner after `npm run migrate`: psql -d croupier -U croupier_owner -f ops/sql/grants.sql
-- It may be repeated. Tables of later migrations are covered by the default privileges.
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO croupier_service;
ALTER DEFAULT PRIVILEGES IN SCHEMA public
  GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO croupier_service;

-- The audit log is append-only: SELECT and INSERT, and without ownership no way to disable its triggers.
REVOKE UPDATE, DELETE ON audit_entries, audit_seals FROM croupier_service;
REVOKE INSERT, UPDATE, DELETE ON migrations FROM croupier_service;

-- Partitions are accessed through their tables only. `npm run partitions` creates new ones without rights.
DO $$
DECLARE
  partition regclass;
BEGIN
  FOR partition IN SELECT inhrelid::regclass FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE c.relkind = 'r' LOOP
    EXECUTE format('REVOKE ALL ON %s FROM croupier_service', partition);
  END LOOP;
END $$;
