import { describe, expect, test } from 'vitest';
import { proveAudit } from '../../src/commands/audit-verify.js';
import { reEncryptSecrets } from '../../src/commands/re-encrypt.js';
import { GAME, OPERATOR, PROVIDER, startWorld, useWorld, type World } from '../world/world.js';

const OLD = Buffer.alloc(32, 'test');
const NEW = Buffer.alloc(32, 'new key');

test('SECRETS_KEY is rotated under a running service, and no tenant notices', async () => {
  const world = await startWorld();
  const instances: World[] = [];
  const start = async (key: Buffer, previous?: Buffer) => {
    const instance = await world.another(world.clock, {
      SECRETS_KEY: key.toString('base64'),
      ...(previous && { SECRETS_KEY_PREVIOUS: previous.toString('base64') }),
    });
    instances.push(instance);
    return instance;
  };
  const launched = async (at: World) => {
    const request = { playerRef: 'p', gameId: GAME, currency: 'EUR' };
    return (await at.signed(OPERATOR, '/v1/operator/sessions', request)).status;
  };
  const storage = { databaseUrl: world.databaseUrl, dataDir: '/nowhere' };
  const said: string[] = [];
  const reEncrypt = (secretsKey: Buffer, secretsKeyPrevious?: Buffer) =>
    reEncryptSecrets(storage, { secretsKey, ...(secretsKeyPrevious && { secretsKeyPrevious }) }, (line) =>
      said.push(line),
    );
  try {
    await world.admin('POST', `/v1/admin/providers/${PROVIDER}/secret/rotate`, {});
    await expect(start(NEW)).rejects.toThrow('SECRETS_KEY: the secret of');

    // Decrypts with both keys and still seals with the old one, as long as not all instances know the new one.
    const first = await start(OLD, NEW);
    const second = await start(NEW, OLD);
    expect([await launched(world), await launched(first), await launched(second)]).toEqual([201, 201, 201]);

    await expect(reEncrypt(NEW)).rejects.toThrow('its seal was made with key');
    await reEncrypt(NEW, OLD);
    await reEncrypt(NEW, OLD);
    expect(said).toEqual([
      expect.stringContaining('Re-encrypted the secrets of 4 of 4 tenants'),
      expect.stringContaining('Re-encrypted the secrets of 0 of 4 tenants'),
    ]);
    expect([await launched(first), await launched(second), await launched(await start(NEW))]).toEqual([
      201, 201, 201,
    ]);
    await expect(start(OLD)).rejects.toThrow('SECRETS_KEY: the secret of');

    const { items } = (await world.admin('GET', '/v1/admin/audit?action=secrets.re-encrypt')).json;
    expect(items).toMatchObject([{ role: 'command', target: 'tenants', after: { resealed: 4, tenants: 4 } }]);
  } finally {
    for (const { app } of instances) await app.close();
    await world.stop();
  }
});

describe('the audit log', () => {
  const world = useWorld();
  const storage = () => ({ databaseUrl: world.databaseUrl, dataDir: '/nowhere' });
  const both = { secretsKey: NEW, secretsKeyPrevious: OLD };
  const mac = 'SELECT mac FROM audit_seals WHERE number = 3';

  /** A manipulation by the owner of the table. */
  const setMac = (expression: string) =>
    world.sql.run(
      `ALTER TABLE audit_seals DISABLE TRIGGER USER; UPDATE audit_seals SET mac = ${expression} WHERE number = 3;
       ALTER TABLE audit_seals ENABLE TRIGGER USER`,
    );

  test('is not sealed with a new key while it is broken, and no secret is either', async () => {
    const [row] = await world.sql.run<{ mac: Buffer }>(mac);
    const before = await world.sql.run('SELECT id, sealed_secret FROM tenants ORDER BY id');
    await setMac(`sha256('x')`);
    await expect(reEncryptSecrets(storage(), both, () => undefined)).rejects.toThrow(
      /^the audit log is broken at \d{4}-\d{2}-\d{2}\/3: it is not the entry that was sealed/,
    );
    await setMac(`'\\x${row!.mac.toString('hex')}'`);
    expect(await world.sql.run('SELECT id, sealed_secret FROM tenants ORDER BY id')).toEqual(before);
  });

  test('is covered by a seal of the new key, once the previous one is gone', async () => {
    const [row] = await world.sql.run<{ count: number }>('SELECT count(*)::int AS count FROM audit_entries');
    await reEncryptSecrets(storage(), both, () => undefined);
    const said: string[] = [];
    const proof = { ...storage(), secretsKey: NEW };
    expect(await proveAudit(proof, undefined, (line) => said.push(line))).toBe(0);
    // One entry of the command, and one for each tenant.
    expect(said).toContain('Seals: 5 are valid.');
    expect(said).toContain(
      `Seals: ${row!.count} were made with an unknown key; a later valid one covers them.`,
    );
    expect(said).toContain('Secrets: 4 tenants have the secrets that their latest log entries name.');
  });
});
