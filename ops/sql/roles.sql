-- Creates two roles: croupier_owner owns the schema and runs `npm run migrate`, croupier_service runs the service.
-- Run it once in the service's database, as its owner with CREATEROLE or as a superuser: psql -d croupier -f ops/sql/roles.sql
-- Then give both roles a password (\password croupier_owner, \password croupier_service), run `npm run migrate` with the
-- URL of croupier_owner, and run ops/sql/grants.sql as croupier_owner.
CREATE ROLE croupier_owner LOGIN;
CREATE ROLE croupier_service LOGIN;

GRANT USAGE, CREATE ON SCHEMA public TO croupier_owner;
GRANT USAGE ON SCHEMA public TO croupier_service;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;

-- If one role, here croupier, has owned the schema so far, also run as a superuser:
-- REASSIGN OWNED BY croupier TO croupier_owner;
