import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BuiltService } from '../process/built-service.js';
import { ended } from '../process/launch.js';
import { type Certificate, createCertificate } from './certificate.js';
import { BINARIES, PostgresServer } from './postgres-server.js';
import { HAS_REDIS, RedisServer } from './redis-server.js';

describe.skipIf(BINARIES === undefined || !HAS_REDIS)('PostgreSQL and Redis with a private authority', () => {
  let certificate: Certificate;
  let postgres: PostgresServer;
  let redis: RedisServer;
  let service: BuiltService;
  beforeAll(async () => {
    certificate = await createCertificate();
    postgres = await PostgresServer.create();
    await postgres.requireTls(certificate);
    redis = await RedisServer.withCertificate(certificate);
    service = await BuiltService.create(trusting());
  }, 120_000);
  afterAll(async () => {
    await service.remove();
    await redis.remove();
    await postgres.remove();
    await certificate.remove();
  });

  const addresses = () => ({
    DATABASE_URL: `${postgres.url()}?sslmode=verify-full`,
    REDIS_URL: `rediss://localhost:${redis.tlsPort}`,
  });
  const trusting = () => ({ ...addresses(), NODE_EXTRA_CA_CERTS: certificate.authority });

  test('are used by TLS if NODE_EXTRA_CA_CERTS names the authority', async () => {
    const bet = await service.bet();
    expect(await service.submit(bet)).toMatchObject({ status: 200, json: { status: 'APPROVED' } });
    expect(await redis.keyCount()).toBeGreaterThan(0);
  });

  test('a Redis Cluster is used by TLS', async () => {
    const nodes = await RedisServer.cluster({ certificate });
    try {
      await service.end('SIGTERM');
      const addresses = nodes.map(({ tlsPort }) => `127.0.0.1:${tlsPort}`);
      const cluster = { REDIS_URL: 'rediss://localhost', REDIS_CLUSTER_NODES: addresses.join(',') };
      await service.start({ ...trusting(), ...cluster });
      for (let calls = 0; calls < 10; calls += 1) {
        expect(await service.submit(await service.bet())).toMatchObject({ status: 200 });
      }
      const keys = await Promise.all(nodes.map((node) => node.keyCount()));
      expect(keys.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(20);
    } finally {
      await service.end('SIGTERM');
      await service.start(trusting());
      for (const node of nodes) await node.remove();
    }
  });

  test('a database whose certificate is not trusted ends the start with one line', async () => {
    const untrusting = service.launch({ ...addresses(), PORT: '0' });
    expect(await ended(untrusting)).toBe(1);
    expect(untrusting.lines).toEqual([expect.stringMatching(/DATABASE_URL: .*certificate/)]);
  });

  test('a Redis whose certificate is not trusted leaves the instance not ready, and the log says why', async () => {
    const sslrootcert = encodeURIComponent(certificate.authority);
    const database = { DATABASE_URL: `${addresses().DATABASE_URL}&sslrootcert=${sslrootcert}` };
    await service.end('SIGTERM');
    await service.start({ ...addresses(), ...database }, 503);
    await expect
      .poll(() => service.logged('Redis unavailable'))
      .toEqual([expect.stringContaining('certificate')]);
    await service.end('SIGTERM');
    await service.start(trusting());
  });
});
