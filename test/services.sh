#!/usr/bin/env bash
# Runs the tests that need PostgreSQL or Redis against real servers: those of TEST_DATABASE_URL and TEST_REDIS_URL, else
# those at this machine's standard ports. As root on Debian, it installs them if they are missing; it starts them if they
# do not run. If a server is not available, the script fails. Arguments are passed on to vitest.
set -euo pipefail
cd "$(dirname "$0")/.."

main() {
  if [ -z "${TEST_DATABASE_URL:-}" ]; then find_postgres; fi
  if [ -z "${TEST_REDIS_URL:-}" ]; then find_redis; fi
  export TEST_DATABASE_URL TEST_REDIS_URL
  postgres_answers "$TEST_DATABASE_URL" || fail 'PostgreSQL does not answer: set TEST_DATABASE_URL'
  redis_answers "$TEST_REDIS_URL" || fail 'Redis does not answer: set TEST_REDIS_URL'
  find_pgbouncer
  npx vitest run --config vitest.services.config.ts "$@"
}

find_postgres() {
  TEST_DATABASE_URL=postgres://postgres@127.0.0.1:5432/postgres
  if postgres_answers "$TEST_DATABASE_URL"; then return; fi
  if ! port_is_open 5432; then
    command -v pg_ctlcluster >/dev/null || install postgresql
    port_is_open 5432 || say pg_ctlcluster --skip-systemctl-redirect "$(ls /etc/postgresql | sort -V | tail -n 1)" main start
    wait_for port_is_open 5432
    if postgres_answers "$TEST_DATABASE_URL"; then return; fi
  fi
  make_role
}

# The server requires a password. Root can act as its administrator and create a role for this run.
make_role() {
  [ "$(id -u)" = 0 ] || fail 'PostgreSQL requires a password: set TEST_DATABASE_URL'
  local password
  ROLE=croupier_test_$$
  password=$(head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n')
  as_postgres "CREATE ROLE $ROLE LOGIN CREATEDB CREATEROLE PASSWORD '$password'"
  trap 'as_postgres "DROP ROLE $ROLE"' EXIT
  TEST_DATABASE_URL=postgres://$ROLE:$password@127.0.0.1:5432/postgres
}

as_postgres() { (cd / && su postgres -s /bin/sh -c 'psql -qXv ON_ERROR_STOP=1 postgres' <<<"$1"); }

find_redis() {
  TEST_REDIS_URL=redis://127.0.0.1:6379
  if redis_answers "$TEST_REDIS_URL"; then return; fi
  command -v redis-server >/dev/null || install redis-server
  port_is_open 6379 ||
    say redis-server --daemonize yes --bind 127.0.0.1 --port 6379 --save '' --appendonly no --dir "${TMPDIR:-/tmp}"
  wait_for port_is_open 6379
}

# The tests in test/engines start servers of their own, and are skipped if the program is missing.
find_pgbouncer() {
  local program=${PGBOUNCER_PATH:-/usr/sbin/pgbouncer}
  if ! [ -x "$program" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then install pgbouncer || true; fi
  if ! [ -x "$program" ]; then
    echo 'test:services: PgBouncer is not installed: what needs it is skipped'
  elif [[ $("$program" --version) =~ PgBouncer\ 1\.(1?[0-9]|20)\. ]]; then
    echo 'test:services: PgBouncer is older than 1.21: its transaction mode is skipped'
  fi
}

postgres_answers() {
  node --input-type=module --eval "
    import { Client } from 'pg';
    const client = new Client({ connectionString: process.argv[1], connectionTimeoutMillis: 2000 });
    try {
      await client.connect();
      const { rows } = await client.query('SHOW server_version');
      console.log('PostgreSQL', rows[0].server_version, 'answers');
      await client.end();
    } catch {
      process.exit(1);
    }" "$1"
}

redis_answers() {
  node --input-type=module --eval "
    import { Redis } from 'ioredis';
    const client = new Redis(process.argv[1], { lazyConnect: true, retryStrategy: () => null, connectTimeout: 2000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      console.log('Redis', /redis_version:(\S+)/.exec(await client.info('server'))[1], 'answers');
      client.disconnect();
    } catch {
      process.exit(1);
    }" "$1"
}

port_is_open() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

wait_for() {
  for _ in $(seq 100); do
    if "$@"; then return; fi
    sleep 0.1
  done
  fail "timed out after 10 s: $*"
}

install() {
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then fail "$1 is not installed"; fi
  say apt-get update -qq
  DEBIAN_FRONTEND=noninteractive say apt-get install -y -qq --no-install-recommends "$1"
}

say() {
  echo "+ $*"
  "$@"
}

fail() {
  echo "test:services: $*" >&2
  exit 1
}

main "$@"
