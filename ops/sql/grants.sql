-- Gives croupier_service its rights. Run it as croupier_owner after `npm run migrate`; it may be repeated:
--   psql -d croupier -U croupier_owner -f ops/sql/grants.sql
-- The default privileges cover tables of later migrations.
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO croupier_service;
ALTER DEFAULT PRIVILEGES IN SCHEMA public
  GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO croupier_service;

-- The audit log is append-only: SELECT and INSERT. Only the owner can disable its triggers.
REVOKE UPDATE, DELETE ON audit_entries, audit_seals FROM croupier_service;
REVOKE INSERT, UPDATE, DELETE ON migrations FROM croupier_service;

-- The service accesses partitions through their parent tables only. `npm run partitions` revokes all rights on new ones.
DO $$
DECLARE
  partition regclass;
BEGIN
  FOR partition IN SELECT inhrelid::regclass FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE c.relkind = 'r' LOOP
    EXECUTE format('REVOKE ALL ON %s FROM croupier_service', partition);
  END LOOP;
END $$;
