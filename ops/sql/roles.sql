-- Creates two roles: croupier_owner owns the schema and runs `npm run migrate`, croupier_service runs the service.
-- Run it in the service's database, as its owner with CREATEROLE or as a superuser; it may be repeated:
--   psql -d croupier -f ops/sql/roles.sql
-- Then give both roles a password (\password croupier_owner, \password croupier_service), run `npm run migrate` with the
-- URL of croupier_owner, and run ops/sql/grants.sql as croupier_owner.
DO $$
DECLARE
  role text;
BEGIN
  FOREACH role IN ARRAY ARRAY['croupier_owner', 'croupier_service'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
      EXECUTE format('CREATE ROLE %I LOGIN', role);
    END IF;
  END LOOP;
END $$;

GRANT USAGE, CREATE ON SCHEMA public TO croupier_owner;
GRANT USAGE ON SCHEMA public TO croupier_service;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;

-- If one role, here croupier, has owned the schema so far, also run as a superuser:
-- REASSIGN OWNED BY croupier TO croupier_owner;
