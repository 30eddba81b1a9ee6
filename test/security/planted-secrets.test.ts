import { createHash, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { Randomness } from '../../src/runtime/randomness.js';
import { ADMIN_KEY, bearer, GAME, OPERATOR, PROVIDER, type Reply, useWorld } from '../world/world.js';

const lines: string[] = [];
/** The form of an encrypted secret. */
const SEALED = /v[12]\.[\w-]{8,}\.[\w-]{8,}/;
/** Every answer of the admin API, without the one secret that it must show. */
const answers: { readonly name: string; readonly text: string }[] = [];
/** The secrets that must not be found, by name. */
const planted = new Map<string, string>();

const world = useWorld(
  { LOG_LEVEL: 'trace', DOCS_ENABLED: 'true' },
  { write: (line: string) => void lines.push(line) },
);
beforeAll(async () => {
  plant('root key', ADMIN_KEY);
  for (const [id, secret] of world.secrets) plant(`secret of ${id}`, secret);
  await createTenants();
  await createKeys();
  const session = await play();
  await plantStored();
  await administer(session);
  await breakWrites();
  await readEverything();
});

/** Registers a secret in each form in which it could be written. */
function plant(name: string, secret: string): void {
  const utf8 = Buffer.from(secret);
  const hash = createHash('sha256').update(secret).digest();
  planted.set(name, secret);
  planted.set(`${name}, base64`, utf8.toString('base64'));
  planted.set(`${name}, hex`, utf8.toString('hex'));
  planted.set(`SHA-256 of ${name}, hex`, hash.toString('hex'));
  planted.set(`SHA-256 of ${name}, base64`, hash.toString('base64'));
  planted.set(`SHA-256 of ${name}, bytes`, JSON.stringify([...hash]).slice(1, -1));
}

/** The encrypted secrets of all tenants, truncated as in PostgreSQL's error of a row. */
async function plantStored(): Promise<void> {
  const rows = await world.sql.run<{ sealed: string }>(
    `SELECT left(sealed, 48) AS sealed FROM tenants, unnest(ARRAY[sealed_secret, previous_sealed_secret]) AS sealed
      WHERE sealed IS NOT NULL`,
  );
  rows.forEach(({ sealed }, index) => planted.set(`sealed secret ${index}`, sealed));
}

async function admin(method: string, path: string, body?: object): Promise<Reply> {
  const reply = await world.admin(method, path, body);
  keep(`${method} ${path}`, reply);
  return reply;
}

function keep(name: string, { text, headers }: Reply, shown = ''): void {
  answers.push({ name, text: `${text.replace(shown, '')}\n${JSON.stringify([...headers])}` });
}

/** A request whose answer shows the created secret once. */
async function made(name: string, path: string, body: object, field: 'secret' | 'key'): Promise<Reply> {
  const reply = await world.admin('POST', path, body);
  expect([200, 201]).toContain(reply.status);
  const secret = String(reply.json[field]);
  expect(secret).toMatch(/^[\w-]{43}$/);
  plant(name, secret);
  keep(`POST ${path}`, reply, secret);
  return reply;
}

async function createTenants(): Promise<void> {
  const address = 'http://127.0.0.1:9';
  const provider = { id: 'planted-provider', name: 'Planted', webhookBaseUrl: address };
  const operator = { id: 'planted-operator', name: 'Planted', walletBaseUrl: address };
  await made('secret of planted-provider', '/v1/admin/providers', provider, 'secret');
  await made('wallet secret of planted-operator', '/v1/admin/operators', operator, 'secret');
  for (const path of [`providers/${PROVIDER}`, `operators/${OPERATOR}`, 'operators/planted-operator']) {
    const body = { overlapSeconds: 3600 };
    const reply = await made(`rotated secret of ${path}`, `/v1/admin/${path}/secret/rotate`, body, 'secret');
    const [, id] = path.split('/');
    if (path.startsWith('operators')) world.wallet.setSecret(id!, String(reply.json['secret']));
    else world.provider.setSecret(id!, String(reply.json['secret']));
    world.secrets.set(id!, String(reply.json['secret']));
  }
}

async function createKeys(): Promise<void> {
  for (const name of ['live', 'revoked']) {
    const { json } = await made(`${name} admin key`, '/v1/admin/keys', { name, role: 'support' }, 'key');
    const key = bearer(String(json['key']));
    const reply = await world.admin('GET', '/v1/admin/providers', undefined, key);
    keep('GET /v1/admin/providers by key', reply);
    if (name === 'revoked') await admin('DELETE', `/v1/admin/keys/${String(json['id'])}`);
  }
}

async function play(): Promise<string> {
  const session = await world.launch();
  await world.submit(world.transaction(session, 'BET', { transactionId: 'a-bet', roundId: 'a-round' }));
  return session.sessionId;
}

async function administer(sessionId: string): Promise<void> {
  await admin('PATCH', `/v1/admin/providers/${PROVIDER}`, { name: 'Renamed', requestsPerSecond: 100_000 });
  await admin('PATCH', `/v1/admin/operators/${OPERATOR}`, { name: 'Renamed', walletTimeoutMs: 1500 });
  await admin('PUT', `/v1/admin/games/${GAME}`, { providerId: PROVIDER, name: 'Renamed' });
  await admin('POST', '/v1/admin/providers', {
    id: PROVIDER,
    name: 'x',
    webhookBaseUrl: 'http://127.0.0.1:9',
  });
  const grant = { operatorId: OPERATOR, gameId: GAME, spins: 3, betAmountMinor: 10, currency: 'EUR' };
  await admin('POST', '/v1/admin/free-spins', { ...grant, requestRef: 'a-grant', playerRef: 'ann' });
  const batch = { ...grant, batchRef: 'a-batch', playerRefs: ['bob'] };
  expect((await admin('POST', '/v1/admin/free-spins/batches', batch)).status).toBeLessThan(300);
  await admin('PUT', `/v1/admin/limits/${OPERATOR}/EUR`, { maxGrantMinor: 1 });
  const held = await admin('POST', '/v1/admin/free-spins', {
    ...grant,
    requestRef: 'held',
    playerRef: 'ann',
  });
  expect(held.status).toBe(202);
  await admin('POST', `/v1/admin/sessions/${sessionId}/revoke`, { reason: 'KICK' });
}

/** Makes the database refuse writes, with errors that name the rows and the values of the statements. */
async function breakWrites(): Promise<void> {
  const key = 'k'.repeat(43);
  plant('key that was not stored', key);
  vi.spyOn(world.app.get(Randomness), 'secret').mockReturnValueOnce(key);
  const broken = { name: 'Broken', webhookBaseUrl: 'http://127.0.0.1:9' };
  await world.sql.run(`ALTER TABLE tenants ADD CONSTRAINT broken CHECK (name <> 'Broken') NOT VALID`);
  await world.sql.run(`ALTER TABLE admin_keys ADD CONSTRAINT broken CHECK (name <> 'Broken') NOT VALID`);
  expect((await admin('POST', '/v1/admin/keys', { name: 'Broken', role: 'admin' })).status).toBe(500);
  expect((await admin('POST', '/v1/admin/providers', { id: 'broken', ...broken })).status).toBe(500);
  expect((await admin('PATCH', `/v1/admin/providers/${PROVIDER}`, { name: 'Broken' })).status).toBe(500);
}

/** Each route of the admin API that reads, as JSON and as CSV. */
async function readEverything(): Promise<void> {
  const { paths } = (await world.request('/docs-json')).json as { paths: Record<string, object> };
  const routes = Object.keys(paths).filter(
    // The stream never ends, and its events are items of the other routes.
    (path) => path.startsWith('/v1/admin/') && 'get' in paths[path]! && path !== '/v1/admin/stream',
  );
  const [batch] = await world.sql.run<{ batch_id: string }>('SELECT batch_id FROM free_spin_batches');
  const [session] = await world.sql.run<{ session_id: string }>('SELECT session_id FROM sessions');
  const [callback] = await world.sql.run<{ callback_id: number }>('SELECT callback_id FROM callbacks');
  const [approval] = await world.sql.run<{ approval_id: string }>('SELECT approval_id FROM approvals');
  const [item] = await world.sql.run<{ item_id: string }>(
    `INSERT INTO attention_items (item_id, kind, subject, state, summary, created_at)
     VALUES (gen_random_uuid(), 'reconciliation', 'a-finding', 'OPEN', 'a finding', now()) RETURNING item_id`,
  );
  const [reconciliation] = await world.sql.run<{ reconciliation_id: string }>(
    `INSERT INTO reconciliations (reconciliation_id, operator_id, range_from, range_to, lines, matched, findings,
                                  findings_stored, sums, created_at, created_by)
     VALUES (gen_random_uuid(), $1, '2026-03-01', '2026-04-01', 0, 0, '{}', 0, '[]', now(), 'root')
     RETURNING reconciliation_id`,
    [OPERATOR],
  );
  const values: Record<string, unknown> = {
    approvalId: approval?.approval_id,
    currency: 'EUR',
    operatorId: OPERATOR,
    gameId: GAME,
    providerId: PROVIDER,
    transactionId: 'a-bet',
    roundId: 'a-round',
    requestRef: 'a-grant',
    batchId: batch?.batch_id,
    sessionId: session?.session_id,
    callbackId: callback?.callback_id,
  };
  for (const route of routes) {
    const id = route.includes('/attention/')
      ? item?.item_id
      : route.includes('/reconciliations/')
        ? reconciliation?.reconciliation_id
        : route.includes('/operators/')
          ? OPERATOR
          : PROVIDER;
    const query = route === '/v1/admin/search' ? '?q=a-bet' : '';
    const path = route.replaceAll(/\{(\w+)\}/g, (_, name: string) => String({ id, ...values }[name])) + query;
    for (const accept of ['application/json', 'text/csv']) {
      const reply = await world.admin('GET', path, undefined, { Accept: accept });
      expect([path, reply.status]).toEqual([path, 200]);
      keep(`GET ${path} as ${accept}`, reply);
    }
  }
}

/** The names of the secrets that the text contains. */
const found = (text: string) =>
  [...planted].filter(([, secret]) => text.includes(secret)).map(([name]) => name);

test('the search finds a planted secret, and has texts to search', () => {
  for (const [name, secret] of planted) expect(found(`${randomUUID()}${secret}.`)).toContain(name);
  expect([...planted].filter(([, secret]) => SEALED.test(secret)).length).toBeGreaterThan(6);
  expect(planted.size).toBeGreaterThan(60);
  expect(answers.length).toBeGreaterThan(50);
  expect(answers.filter(({ name }) => name.includes('csv') && name.includes('providers'))).not.toEqual([]);
  const log = lines.join('');
  for (const words of ['audit provider.create', 'audit key.create', '23514', 'INSERT INTO']) {
    expect(log).toContain(words);
  }
});

describe('no planted secret is in', () => {
  test('an answer or an export of the admin API', () => {
    for (const { name, text } of answers) expect([name, found(text)]).toEqual([name, []]);
  });

  test('an entry of the audit log', async () => {
    const entries = await world.sql.run<{ text: string }>(
      'SELECT to_json(e)::text AS text FROM audit_entries e',
    );
    expect(entries.length).toBeGreaterThan(20);
    for (const { text } of entries) expect([text, found(text)]).toEqual([text, []]);
  });

  test('a line of the log', () => {
    for (const line of lines) {
      expect([line, found(line)]).toEqual([line, []]);
      expect(line).not.toMatch(SEALED);
    }
  });
});
