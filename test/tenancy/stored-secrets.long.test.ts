import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { proveAudit } from '../../src/commands/audit-verify.js';
import { reEncryptSecrets } from '../../src/commands/re-encrypt.js';
import { encryptText, IV_BYTES } from '../../src/runtime/authenticated-encryption.js';
import { keyIdOf } from '../../src/runtime/digest.js';
import { Randomness } from '../../src/runtime/randomness.js';
import { SecretBox } from '../../src/tenancy/secrets/secret-box.js';
import {
  OPERATOR,
  OTHER_OPERATOR,
  OTHER_PROVIDER,
  PROVIDER,
  startApplication,
  startWorld,
  useWorld,
  World,
} from '../world/world.js';

const KEY = Buffer.alloc(32, 'test');
const box = new SecretBox({ secretsKey: KEY }, new Randomness());

/** A secret in the format of earlier versions. */
function encryptV1(tenantId: string, secret: string): string {
  const iv = randomBytes(IV_BYTES);
  const body = encryptText(KEY, tenantId, iv, secret);
  return `v1.${keyIdOf(KEY)}.${iv.toString('base64url')}.${body.toString('base64url')}`;
}

const world = useWorld();

const storage = () => ({ databaseUrl: world.databaseUrl, dataDir: '/nowhere' });

async function prove(): Promise<{ status: number; said: string }> {
  const said: string[] = [];
  const status = await proveAudit({ ...storage(), secretsKey: KEY }, undefined, (line) => said.push(line));
  return { status, said: said.join('\n') };
}

async function rotate(id: string, overlapSeconds: number): Promise<string> {
  const reply = await world.admin('POST', `/v1/admin/providers/${id}/secret/rotate`, { overlapSeconds });
  expect(reply.status).toBe(200);
  return String(reply.json['secret']);
}

interface Row {
  sealed_secret: string;
  previous_sealed_secret: string | null;
  previous_valid_until: Date | null;
}

async function row(id: string): Promise<Row> {
  const [found] = await world.sql.run<Row>('SELECT * FROM tenants WHERE id = $1', [id]);
  return found!;
}

/** A manipulation by someone with write access to the table. */
async function put(id: string, changed: Partial<Row>): Promise<void> {
  const { sealed_secret, previous_sealed_secret, previous_valid_until } = { ...(await row(id)), ...changed };
  await world.sql.run(
    `UPDATE tenants SET sealed_secret = $2, previous_sealed_secret = $3, previous_valid_until = $4 WHERE id = $1`,
    [id, sealed_secret, previous_sealed_secret, previous_valid_until],
  );
}

test('the secrets stored by creations and rotations are those that the log names', async () => {
  await rotate(PROVIDER, 0);
  await rotate(PROVIDER, 3600);
  const { status, said } = await prove();
  expect([status, said]).toEqual([
    0,
    expect.stringContaining('Secrets: 4 tenants have the secrets that their latest log entries name.'),
  ]);
});

describe('audit:verify reports', () => {
  let leaked: Row;
  let present: Row;

  beforeEach(async () => {
    await rotate(PROVIDER, 3600);
    leaked = await row(PROVIDER);
    await rotate(PROVIDER, 0);
    present = await row(PROVIDER);
  });

  const inAnHour = () => new Date(world.clock.now().getTime() + 3_600_000);
  const v1 = () => encryptV1(PROVIDER, 'a secret of an old backup');

  test.each<[string, 'current' | 'previous', string, () => Partial<Row>]>([
    [
      'the secret before the rotation',
      'current',
      'it is a different secret',
      () => ({ sealed_secret: leaked.sealed_secret }),
    ],
    [
      'a secret in the format of earlier versions',
      'current',
      'it is a different secret',
      () => ({ sealed_secret: v1() }),
    ],
    [
      'a previous secret that the rotation dropped',
      'previous',
      'it is a different secret',
      () => ({ previous_sealed_secret: leaked.previous_sealed_secret, previous_valid_until: inAnHour() }),
    ],
    [
      'a previous secret in the format of earlier versions',
      'previous',
      'it is a different secret',
      () => ({ previous_sealed_secret: v1(), previous_valid_until: inAnHour() }),
    ],
    [
      'the current secret in the column of the previous one',
      'previous',
      'it cannot be decrypted: it was altered, or encrypted for another tenant or column',
      () => ({ previous_sealed_secret: leaked.sealed_secret, previous_valid_until: inAnHour() }),
    ],
  ])('%s, put back', async (_, column, reason, changed) => {
    await put(PROVIDER, changed());
    const { status, said } = await prove();
    await put(PROVIDER, present);
    expect(status).toBe(1);
    expect(said).toContain(`The ${column} secret of provider ${PROVIDER} does not match the audit log (`);
    expect(said).toContain(`): ${reason}.`);
    expect(said).toContain(
      `Rotate it: POST /v1/admin/providers/${PROVIDER}/secret/rotate {"overlapSeconds":0}`,
    );
    expect((await prove()).status).toBe(0);
  });

  test('a previous secret that was made valid for longer', async () => {
    await rotate(PROVIDER, 60);
    const rotated = await row(PROVIDER);
    await put(PROVIDER, { previous_valid_until: inAnHour() });
    const { status, said } = await prove();
    await put(PROVIDER, rotated);
    expect([status, said]).toEqual([1, expect.stringContaining('its validity ends at another time')]);
  });

  test('a previous secret that was made valid for ever', async () => {
    await rotate(PROVIDER, 60);
    const rotated = await row(PROVIDER);
    await world.sql.run(`UPDATE tenants SET previous_valid_until = 'infinity' WHERE id = $1`, [PROVIDER]);
    const { status, said } = await prove();
    await put(PROVIDER, rotated);
    expect([status, said]).toEqual([1, expect.stringContaining('its validity ends at another time')]);
  });

  test('a secret with an id that the log does not name', async () => {
    const secret = { ...box.create() };
    const encrypted = box.encrypt({ tenantId: 'unnamed', column: 'current' }, secret);
    await world.sql.run(
      `INSERT INTO tenants SELECT (jsonb_populate_record(t, jsonb_build_object('id', 'unnamed', 'sealed_secret', $2::text))).*
         FROM tenants t WHERE id = $1`,
      [PROVIDER, encrypted],
    );
    const { status, said } = await prove();
    await world.sql.run(`DELETE FROM tenants WHERE id = 'unnamed'`);
    expect([status, said]).toEqual([
      1,
      expect.stringContaining('no entry of the log with a seal of a known key names one for this tenant'),
    ]);
  });

  test.each([
    ['', undefined],
    [' with a seal of an unknown key', 'deadbeef'],
  ])('an old secret, although someone has appended an entry%s that names it', async (_, keyId) => {
    const [, , secretId] = leaked.sealed_secret.split('.');
    const [entry] = await world.sql.run<{ day: string; position: number }>(
      `INSERT INTO audit_entries (actor, role, action, target, after) VALUES ('root', 'admin', $1, $2, $3)
       RETURNING day::text, position`,
      ['provider.rotate-secret', `provider:${PROVIDER}`, JSON.stringify({ secretId })],
    );
    if (keyId !== undefined) {
      await world.sql.run(
        `INSERT INTO audit_seals (number, day, position, key_id, mac)
         SELECT max(number) + 1, $1, $2, $3, sha256('') FROM audit_seals`,
        [entry!.day, entry!.position, keyId],
      );
    }
    // The seal of this entry covers the appended one.
    await rotate(OTHER_PROVIDER, 0);
    await put(PROVIDER, { sealed_secret: leaked.sealed_secret });
    const { status, said } = await prove();
    await put(PROVIDER, present);
    expect([status, said]).toEqual([1, expect.stringContaining('does not match the audit log')]);
  });
});

test("an encrypted text cannot be decrypted in another tenant's row, nor a previous one as the current", async () => {
  await rotate(OTHER_PROVIDER, 3600);
  const present = await row(OTHER_PROVIDER);
  for (const sealed_secret of [(await row(PROVIDER)).sealed_secret, present.previous_sealed_secret!]) {
    await put(OTHER_PROVIDER, { sealed_secret });
    const { status, said } = await prove();
    expect([status, said]).toEqual([
      1,
      expect.stringContaining(`The current secret of provider ${OTHER_PROVIDER}`),
    ]);
  }
  await put(OTHER_PROVIDER, present);
});

test('a previous secret that cannot be decrypted leaves the tenant its current one', async () => {
  const secret = await rotate(PROVIDER, 3600);
  world.secrets.set(PROVIDER, secret);
  await put(PROVIDER, { previous_sealed_secret: (await row(PROVIDER)).sealed_secret });
  await world.advance(0);
  const session = await world.launch();
  expect((await world.balance(session)).status).toBe(200);
  world.secrets.set(PROVIDER, await rotate(PROVIDER, 0));
});

test('a secret that cannot be decrypted refuses its tenant for now, and a rotation without an overlap repairs it', async () => {
  await put(PROVIDER, { sealed_secret: 'x' });
  const path = `/v1/admin/providers/${PROVIDER}/secret/rotate`;
  expect((await world.admin('POST', path, {})).status).toBe(500);
  expect((await row(PROVIDER)).sealed_secret).toBe('x');
  await world.advance(0);
  const verify = (tenant: string) => world.signed(tenant, '/v1/wallet/session/verify', { sessionToken: '-' });
  const refused = await verify(PROVIDER);
  expect([refused.status, refused.headers.get('x-error-code'), refused.headers.get('x-next-action')]).toEqual(
    [500, 'CONFIGURATION_UNAVAILABLE', 'retry-same-request'],
  );
  expect((await verify('unknown')).text).toBe('invalid signature');
  world.secrets.set(PROVIDER, await rotate(PROVIDER, 0));
  expect((await world.balance(await world.launch())).status).toBe(200);
});

test('a rotation encrypts the current secret again, for the column that it moves to', async () => {
  const before = await rotate(PROVIDER, 0);
  const after = await rotate(PROVIDER, 3600);
  const { sealed_secret, previous_sealed_secret } = await row(PROVIDER);
  const place = { tenantId: PROVIDER } as const;
  expect(box.decrypt({ ...place, column: 'current' }, sealed_secret).secret).toBe(after);
  expect(box.decrypt({ ...place, column: 'previous' }, previous_sealed_secret!).secret).toBe(before);
  expect(sealed_secret).toMatch(/^v2\./);
  world.secrets.set(PROVIDER, after);
});

describe('an installation of an earlier version', () => {
  let earlier: World;
  let instance: Awaited<ReturnType<typeof startApplication>>;
  let upgraded: World;

  /** The log and the secrets as that version wrote them, without seals and ids; then an instance of this version. */
  beforeAll(async () => {
    earlier = await startWorld();
    const { sql, secrets, databaseUrl, clock, wallet, provider } = earlier;
    await sql.run(
      `ALTER TABLE audit_entries DISABLE TRIGGER USER; ALTER TABLE audit_seals DISABLE TRIGGER USER;
       DELETE FROM audit_entries; DELETE FROM audit_seals;
       ALTER TABLE audit_entries ENABLE TRIGGER USER; ALTER TABLE audit_seals ENABLE TRIGGER USER;
       INSERT INTO audit_entries (actor, role, action, target)
       SELECT 'root', 'admin', lower(kind) || '.create', lower(kind) || ':' || id FROM tenants`,
    );
    for (const [id, secret] of secrets) {
      const encrypted = encryptV1(id, secret);
      await sql.run('UPDATE tenants SET sealed_secret = $2 WHERE id = $1', [id, encrypted]);
    }
    instance = await startApplication({ DATABASE_URL: databaseUrl }, clock);
    const { app, url } = instance;
    upgraded = new World(app, url, databaseUrl, clock, wallet, provider, sql, () => earlier.stop());
    for (const [id, secret] of secrets) upgraded.secrets.set(id, secret);
  });

  afterAll(async () => {
    await instance.app.close();
    await earlier.stop();
  });

  const storage = () => ({ databaseUrl: earlier.databaseUrl, dataDir: '/nowhere' });
  const formats = async () => {
    const rows = await earlier.sql.run<{ id: string; format: string }>(
      'SELECT id, left(sealed_secret, 2) AS format FROM tenants',
    );
    return Object.fromEntries(rows.map(({ id, format }) => [id, format]));
  };
  const proveUpgraded = async () => {
    const said: string[] = [];
    const proof = { ...storage(), secretsKey: KEY };
    const status = await proveAudit(proof, undefined, (line) => said.push(line));
    return { status, said: said.join('\n') };
  };

  test('works unchanged; its log is sealed at the start, and its secrets are reported as not verifiable', async () => {
    await upgraded.launch();
    const { status, said } = await proveUpgraded();
    expect(status).toBe(0);
    expect(said).toContain('Seals: 1 are valid.\nSeals: 3 entries have none of their own');
    expect(said).toContain(
      'Secrets: 4 tenants have secrets that an earlier version stored and that cannot be verified',
    );
  });

  test('writes new secrets in the current format', async () => {
    const body = { id: 'after-upgrade', name: 'New', webhookBaseUrl: 'http://127.0.0.1:9' };
    expect((await upgraded.admin('POST', '/v1/admin/providers', body)).status).toBe(201);
    const rotate = `/v1/admin/providers/${OTHER_PROVIDER}/secret/rotate`;
    expect((await upgraded.admin('POST', rotate, {})).status).toBe(200);
    expect(await formats()).toEqual({
      [OPERATOR]: 'v1',
      [OTHER_OPERATOR]: 'v1',
      [PROVIDER]: 'v1',
      [OTHER_PROVIDER]: 'v2',
      'after-upgrade': 'v2',
    });
  });

  test('has all secrets in the current format, and verifiable, after secrets:re-encrypt', async () => {
    const said: string[] = [];
    for (let i = 0; i < 2; i += 1) {
      await reEncryptSecrets(storage(), { secretsKey: KEY }, (line) => said.push(line));
    }
    expect(said).toEqual([
      expect.stringContaining('Re-encrypted the secrets of 3 of 5 tenants'),
      expect.stringContaining('Re-encrypted the secrets of 0 of 5 tenants'),
    ]);
    expect(new Set(Object.values(await formats()))).toEqual(new Set(['v2']));
    const { status, said: proved } = await proveUpgraded();
    expect([status, proved]).toEqual([
      0,
      expect.stringContaining('Secrets: 5 tenants have the secrets that their latest log entries name.'),
    ]);
    expect(proved).not.toContain('cannot be verified');
    await upgraded.advance(0);
    await upgraded.launch();

    const { items } = (await upgraded.admin('GET', `/v1/admin/audit?target=operator:${OPERATOR}`)).json;
    const [newest] = items as { action: string; after: object }[];
    expect(newest).toMatchObject({
      action: 'operator.reseal-secret',
      after: { secretId: expect.any(String) },
    });
  });
});
