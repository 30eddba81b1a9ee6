import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { useDatabase } from '../world/database.js';

const database = useDatabase();

const [deleteSessions, deleteItems] = [
  ...readFileSync('docs/scaling.md', 'utf8').matchAll(/^```sql\n(DO .*?)^```$/gms),
].map(([, statement]) => statement!) as [string, string];

test('the documented statement deletes old sessions with their revocations, in several steps', async () => {
  await database.sql.run(`
    INSERT INTO tenants (id, kind, name, webhook_base_url, late_settlement_seconds, wallet_base_url, wallet_adapter,
                         sealed_secret, created_at, updated_at)
    SELECT lower(kind), kind, 'x', CASE kind WHEN 'PROVIDER' THEN 'x' END, CASE kind WHEN 'PROVIDER' THEN 0 END,
           CASE kind WHEN 'OPERATOR' THEN 'x' END, CASE kind WHEN 'OPERATOR' THEN 'x' END, 'x', now(), now()
      FROM unnest(ARRAY['PROVIDER', 'OPERATOR']) kind;
    INSERT INTO games (game_id, provider_id, name, status, created_at, updated_at)
    VALUES ('game', 'provider', 'x', 'ACTIVE', now(), now());
    INSERT INTO sessions (session_id, token_hash, operator_id, provider_id, player_ref, game_id, currency, mode,
                          created_at, expires_at)
    SELECT gen_random_uuid(), sha256(n::text::bytea), 'operator', 'provider', 'p', 'game', 'EUR', 'REAL', at, at
      FROM (SELECT n, CASE WHEN n > 12000 THEN now() ELSE now() - interval '11 years' END AS at
              FROM generate_series(1, 12003) n) numbered;
    INSERT INTO session_revocations (session_id, lease_until) SELECT session_id, now() FROM sessions`);
  await database.sql.run(deleteSessions);
  const left = (table: string) => database.sql.run(`SELECT count(*)::int AS count FROM ${table}`);
  expect(await left('sessions')).toEqual([{ count: 3 }]);
  expect(await left('session_revocations')).toEqual([{ count: 3 }]);
});

test('the documented statement deletes old items that are closed and whose cause is gone, with their events', async () => {
  await database.sql.run(`
    INSERT INTO attention_items (item_id, kind, subject, state, cause_present, summary, closed_at, closed_by, created_at)
    SELECT gen_random_uuid(), 'grant', subject, state, present, 'x', CASE state WHEN 'CLOSED' THEN now() - open END,
           CASE state WHEN 'CLOSED' THEN 'x' END, now() - interval '2 years'
      FROM (VALUES ('old', 'CLOSED', false, interval '13 months'), ('new', 'CLOSED', false, interval '11 months'),
                   ('present', 'CLOSED', true, interval '13 months'), ('open', 'OPEN', true, NULL))
        AS item (subject, state, present, open);
    INSERT INTO attention_events (item_id, event, actor, created_at)
    SELECT item_id, 'opened', 'croupier', created_at FROM attention_items`);
  await database.sql.run(deleteItems);
  expect(
    await database.sql.run(
      'SELECT subject FROM attention_items JOIN attention_events USING (item_id) ORDER BY 1',
    ),
  ).toEqual([{ subject: 'new' }, { subject: 'open' }, { subject: 'present' }]);
});
