import { describe, expect, test } from 'vitest';
import { ConfigurationError, readConfiguration } from '../../src/config/configuration.js';

const REQUIRED = {
  ADMIN_API_KEY: 'a'.repeat(32),
  SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
};

describe('the configuration', () => {
  test('has the defaults of the contract', () => {
    expect(readConfiguration(REQUIRED)).toMatchObject({
      port: 3000,
      host: '0.0.0.0',
      sandbox: false,
      outboundAllowPrivate: false,
      signatureToleranceSeconds: 300,
      requestsPerSecond: 200,
      operatorTimeoutMs: 5000,
      callbackTimeoutMs: 10_000,
      transactionLeaseSeconds: 30,
      sessionTtlSeconds: 86_400,
      demoStartBalanceMinor: 100_000,
      logLevel: 'info',
      docsEnabled: true,
      trustProxy: [],
    });
  });

  test('of the sandbox brings its own keys, on loopback', () => {
    const configuration = readConfiguration({ SANDBOX: 'true' });
    expect(configuration).toMatchObject({ sandbox: true, host: '127.0.0.1', outboundAllowPrivate: true });
    expect(configuration.adminApiKey.length).toBeGreaterThanOrEqual(32);
  });

  test('keeps its database where root may enter', () => {
    expect(readConfiguration(REQUIRED, { uid: 0, terminal: false }).dataDir).toBe('/var/lib/croupier');
    expect(readConfiguration(REQUIRED, { uid: 1000, terminal: false }).dataDir).toBe(`${process.cwd()}/data`);
  });

  test('is frozen', () => expect(Object.isFrozen(readConfiguration(REQUIRED))).toBe(true));

  test.each([
    ['ADMIN_API_KEY', undefined],
    ['ADMIN_API_KEY', 'short'],
    ['ADMIN_API_KEY', `${'a'.repeat(32)} b`],
    ['SECRETS_KEY', undefined],
    ['SECRETS_KEY', 'AAAA'],
    ['SECRETS_KEY', 'not base64 at all, but as long as one …'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', 'http'],
    ['PORT', '3e3'],
    ['DATABASE_URL', 'mysql://localhost'],
    ['DATABASE_URL', 'nonsense'],
    ['REDIS_URL', 'http://localhost'],
    ['SANDBOX', 'yes'],
    ['TRUST_PROXY', 'everybody'],
    ['TRUST_PROXY', '10.0.0.0/33'],
    ['OUTBOUND_ALLOW_PRIVATE', '1'],
    ['SIGNATURE_TOLERANCE_SECONDS', '0'],
    ['REQUESTS_PER_SECOND', '0'],
    ['OPERATOR_TIMEOUT_MS', '1.5'],
    ['CALLBACK_TIMEOUT_MS', ' '.concat('x')],
    ['SESSION_TTL_SECONDS', '0'],
    ['DEMO_START_BALANCE_MINOR', '9007199254740992'],
    ['LOG_LEVEL', 'loud'],
    ['DOCS_ENABLED', 'TRUE'],
  ])('refuses %s=%j in one line that names it', (name, value) => {
    const read = () => readConfiguration({ ...REQUIRED, [name]: value });
    expect(read).toThrow(ConfigurationError);
    expect(read).toThrow(new RegExp(`^${name}: [^\\n]+$`));
  });

  test('refuses a lease that no operator call fits into', () => {
    const lease = { TRANSACTION_LEASE_SECONDS: '5', OPERATOR_TIMEOUT_MS: '4001' };
    expect(() => readConfiguration({ ...REQUIRED, ...lease })).toThrow(/^TRANSACTION_LEASE_SECONDS: /);
    expect(readConfiguration({ ...REQUIRED, ...lease, OPERATOR_TIMEOUT_MS: '4000' }).operatorTimeoutMs).toBe(
      4000,
    );
  });

  test('refuses the sandbox in production', () => {
    const environment = { ...REQUIRED, SANDBOX: 'true', NODE_ENV: 'production' };
    expect(() => readConfiguration(environment)).toThrow(/^SANDBOX: /);
  });
});
