import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { EXPIRE as EXPIRE_APPROVALS } from '../../src/approvals/approval.store.js';
import { EXPIRE as EXPIRE_GRANTS } from '../../src/free-spins/grants/grant.sql.js';
import { MERGE, REMOVE_OLD } from '../../src/health-scores/health-period.store.js';
import { CLAIM_UNSENT, PROVIDERS_WITH_UNSENT } from '../../src/session/revocation.store.js';
import { DELETE_EXPIRED } from '../../src/wallet/evidence/attempt-ids.store.js';
import { nodesOnTables, rowsTouched, usePlanDatabase } from '../world/plan.js';

const ROWS = 10_000;
const N = `generate_series(1, ${ROWS}) n`;

const database = usePlanDatabase();
/** Fills each table with rows that are not due yet. */
beforeAll(async () => {
  const { sql } = database;
  await sql.run(`
    INSERT INTO attempt_ids (provider_id, transaction_id, platform_transaction_id)
    SELECT 'provider', n, gen_random_uuid() FROM ${N};
    INSERT INTO health_periods (tenant_id, started_at, instance_id, calls, succeeded, timeouts, latency)
    SELECT 'provider', now() - n * interval '0.3 seconds', gen_random_uuid(), 0, 0, 0, '{}' FROM ${N};
    INSERT INTO approvals (approval_id, state, kind, reference, deed, fingerprint, operator_id, currency, amount_minor,
                           asked_by, created_at, expires_at)
    SELECT gen_random_uuid(), 'WAITING', 'grant', n, '{}', sha256('x'), 'operator', 'EUR', 1, 'x', now(),
           now() + interval '1 day'
      FROM ${N};
    INSERT INTO tenants (id, kind, name, webhook_base_url, late_settlement_seconds, sealed_secret, created_at, updated_at)
    VALUES ('provider', 'PROVIDER', 'x', 'x', 0, 'x', now(), now());
    INSERT INTO tenants (id, kind, name, wallet_base_url, wallet_adapter, sealed_secret, created_at, updated_at)
    VALUES ('operator', 'OPERATOR', 'x', 'x', 'x', 'x', now(), now());
    INSERT INTO games (game_id, provider_id, name, status, created_at, updated_at)
    VALUES ('game', 'provider', 'x', 'ACTIVE', now(), now());
    INSERT INTO free_spin_grants (request_ref, state, operator_id, provider_id, player_ref, game_id, spins,
                                  bet_amount_minor, currency, attempt, lease_until)
    SELECT n, 'PENDING', 'operator', 'provider', 'p', 'game', 1, 0, 'EUR', 1, now() + interval '1 day' FROM ${N};
    INSERT INTO sessions (session_id, token_hash, operator_id, provider_id, player_ref, game_id, currency, mode,
                          created_at, expires_at, revoked_at, revoke_reason)
    SELECT gen_random_uuid(), sha256(n::text::bytea), 'operator', 'provider', 'p', 'game', 'EUR', 'REAL', now(), now(),
           now(), 'KICK'
      FROM ${N};
    INSERT INTO session_revocations (session_id, sent, lease_until)
    SELECT session_id, false, now() + interval '1 day' FROM sessions`);
  await sql.run('VACUUM (ANALYZE)');
});

test.each([
  ['expired ids of attempts', DELETE_EXPIRED, { days: 1, limit: 100 }],
  ['old counts of calls', REMOVE_OLD, { limit: 100 }],
  ['counts of a period', MERGE, { instanceId: randomUUID(), startedAt: new Date() }],
  ['expired approvals', EXPIRE_APPROVALS, {}],
  ['sent grants without an outcome', EXPIRE_GRANTS, { error: 'x' }],
  ['providers with unsent revocations', PROVIDERS_WITH_UNSENT, { providerIds: ['provider'] }],
  ['unsent revocations', CLAIM_UNSENT, { providerId: 'provider', leaseSeconds: 1 }],
])('%s are found without reading rows that are not due', async (_, statement, values) => {
  for (const nodes of await database.planner.plansOf(statement, values)) {
    const read = nodesOnTables(nodes);
    expect(rowsTouched(read)).toBe(0);
  }
});
