import { open } from 'node:fs/promises';
import { beforeEach, expect, test } from 'vitest';
import { createTestDatabase } from '../world/database.js';
import { until } from '../world/patience.js';
import { ended, launch, type Launched, ownPort } from './launch.js';

const port = ownPort();
const url = `http://127.0.0.1:${port}`;

let service: Launched;
beforeEach(async () => {
  const database = await createTestDatabase();
  const full = await open('/dev/full', 'w');
  const environment = {
    HOST: '127.0.0.1',
    PORT: String(port),
    DATABASE_URL: database.url,
    ADMIN_API_KEY: 'admin-key-of-the-process-tests-01234567',
    SECRETS_KEY: Buffer.from('key of a service with a full log').toString('base64'),
  };
  service = launch(environment, full.fd);
  return async () => {
    service.process.kill('SIGKILL');
    await full.close();
    await database.drop();
  };
});

test.runIf(process.platform === 'linux')(
  'a log on a full disk affects neither requests nor the stop',
  async () => {
    await until(async () => (await fetch(`${url}/health/ready`).catch(() => undefined))?.status === 200);
    // Enough lines for several writes.
    for (let requests = 0; requests < 100; requests += 1) {
      expect((await fetch(`${url}/nowhere-${'x'.repeat(200)}`)).status).toBe(404);
    }
    service.process.kill('SIGTERM');
    expect(await ended(service)).toBe(0);
  },
);
