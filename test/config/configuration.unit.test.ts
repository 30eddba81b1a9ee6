import { randomBytes } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { readAuditProof, readConfiguration, readSecretsKeys } from '../../src/config/configuration.js';
import { readEnvironment } from '../../src/config/environment.js';
import { ConfigurationError } from '../../src/config/variable-reader.js';

const REQUIRED = {
  ADMIN_API_KEY: 'an-admin-key-of-these-tests-0123456789',
  SECRETS_KEY: randomBytes(32).toString('base64'),
};

/** The sandbox's own keys, which are public. */
const SANDBOX = readConfiguration({ SANDBOX: 'true' });
const SANDBOX_KEYS = {
  ADMIN_API_KEY: SANDBOX.adminApiKey,
  SECRETS_KEY: SANDBOX.secretsKey.toString('base64'),
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
      shutdownDelayMs: 0,
      transactionLeaseSeconds: 30,
      sessionTtlSeconds: 86_400,
      demoStartBalanceMinor: 100_000,
      logLevel: 'info',
      docsEnabled: true,
      consoleEnabled: true,
      maxConnectionsPerAddress: 1000,
      trustProxy: [],
    });
  });

  test('switches tracing on if it has an endpoint', () => {
    expect(readConfiguration({ ...REQUIRED, OTEL_TRACES_SAMPLER_ARG: '0.1' }).tracing).toBeUndefined();
    const endpoint = 'http://collector:4318';
    expect(readConfiguration({ ...REQUIRED, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }).tracing).toEqual({
      endpoint,
      headers: {},
      serviceName: 'croupier',
      sampleRatio: 1,
    });
    const headers = 'authorization=Bearer%20key, x-scope = a=b ,';
    expect(
      readConfiguration({
        ...REQUIRED,
        OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
        OTEL_EXPORTER_OTLP_HEADERS: headers,
        OTEL_SERVICE_NAME: 'play',
        OTEL_TRACES_SAMPLER_ARG: '0.1',
      }).tracing,
    ).toEqual({
      endpoint,
      headers: { authorization: 'Bearer key', 'x-scope': 'a=b' },
      serviceName: 'play',
      sampleRatio: 0.1,
    });
  });

  test('of the sandbox has keys of its own, on loopback', () => {
    const configuration = readConfiguration({ SANDBOX: 'true' });
    expect(configuration).toMatchObject({ sandbox: true, host: '127.0.0.1', outboundAllowPrivate: true });
    expect(configuration.adminApiKey.length).toBeGreaterThanOrEqual(32);
  });

  test('has another data folder for root', () => {
    expect(readConfiguration(REQUIRED, { uid: 0, terminal: false }).dataDir).toBe('/var/lib/croupier');
    expect(readConfiguration(REQUIRED, { uid: 1000, terminal: false }).dataDir).toBe(`${process.cwd()}/data`);
  });

  test.each([
    [undefined, true],
    ['', true],
    [' ', true],
    ['false', false],
  ])('under npm start, with SANDBOX=%j, starts the sandbox: %s', (value, starts) => {
    vi.stubEnv('npm_lifecycle_event', 'start');
    vi.stubEnv('SANDBOX', value);
    expect(readEnvironment(({ SANDBOX }) => SANDBOX)).toBe(String(starts));
    vi.unstubAllEnvs();
  });

  test('is frozen', () => expect(Object.isFrozen(readConfiguration(REQUIRED))).toBe(true));

  test.each([
    ['ADMIN_API_KEY', undefined],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.1'],
    ['OTEL_TRACES_SAMPLER_ARG', 'all'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization=%zz'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization=Basic%20x%0A'],
    ['ADMIN_API_KEY', 'short'],
    ['ADMIN_API_KEY', `${'a'.repeat(32)} b`],
    ['SECRETS_KEY', undefined],
    ['SECRETS_KEY', 'AAAA'],
    ['SECRETS_KEY', 'not base64, but of the right length …'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', 'http'],
    ['PORT', '3e3'],
    ['DATABASE_URL', 'mysql://localhost'],
    ['DATABASE_URL', 'nonsense'],
    ['GROUP_COMMIT_DATABASE_URL', 'mysql://localhost'],
    ['DATABASE_URL', 'postgres:localhost'],
    ['REDIS_URL', 'http://localhost'],
    ['REDIS_URL', 'redis:localhost'],
    ['REDIS_URL', 'redis://:50%off@localhost'],
    ['REDIS_URL', 'redis://a%:41b@localhost'],
    ['SANDBOX', 'yes'],
    ['TRUST_PROXY', 'everybody'],
    ['TRUST_PROXY', '10.0.0.0/33'],
    ['TRUST_PROXY', '0.0.0.0/0'],
    ['TRUST_PROXY', '10.0.0.0/8, ::/00'],
    ['OUTBOUND_ALLOW_PRIVATE', '1'],
    ['SIGNATURE_TOLERANCE_SECONDS', '0'],
    ['REQUESTS_PER_SECOND', '0'],
    ['OPERATOR_TIMEOUT_MS', '1.5'],
    ['CALLBACK_TIMEOUT_MS', ' '.concat('x')],
    ['SESSION_TTL_SECONDS', '0'],
    ['DEMO_START_BALANCE_MINOR', '9007199254740992'],
    ['LOG_LEVEL', 'loud'],
    ['DOCS_ENABLED', 'TRUE'],
    ['DOCS_ENABLED', 'sandbox'],
    ['MAX_CONNECTIONS_PER_ADDRESS', '0'],
    ['METRICS_TOKEN', 'two words'],
    ['METRICS_TOKEN', 'smörgås'],
  ])('refuses %s=%j in one line that names it', (name, value) => {
    const read = () => readConfiguration({ ...REQUIRED, [name]: value });
    expect(read).toThrow(ConfigurationError);
    expect(read).toThrow(new RegExp(`^${name}: [^\\n]+$`));
  });

  test('names how a URL may begin', () => {
    const read = () => readConfiguration({ ...REQUIRED, DATABASE_URL: 'mysql://localhost' });
    expect(read).toThrow(/ begins with postgres:\/\/ or postgresql:\/\/$/);
  });

  test('refuses a lease shorter than an operator call', () => {
    const lease = { TRANSACTION_LEASE_SECONDS: '5', OPERATOR_TIMEOUT_MS: '4001' };
    expect(() => readConfiguration({ ...REQUIRED, ...lease })).toThrow(/^TRANSACTION_LEASE_SECONDS: /);
    expect(readConfiguration({ ...REQUIRED, ...lease, OPERATOR_TIMEOUT_MS: '4000' }).operatorTimeoutMs).toBe(
      4000,
    );
  });

  test.each([
    ['true', 'false', true],
    ['false', 'true', false],
    ['sandbox-only', 'false', false],
    ['sandbox-only', 'true', true],
  ])('with DOCS_ENABLED=%s and SANDBOX=%s serves the documents: %s', (value, sandbox, served) => {
    const environment = { ...REQUIRED, DOCS_ENABLED: value, SANDBOX: sandbox };
    expect(readConfiguration(environment).docsEnabled).toBe(served);
  });

  test('refuses the sandbox in production', () => {
    const environment = { ...REQUIRED, SANDBOX: 'true', NODE_ENV: 'production' };
    expect(() => readConfiguration(environment)).toThrow(/^SANDBOX: /);
  });
});

describe('the Sentinels of Redis', () => {
  const read = (sentinels: string) =>
    readConfiguration({ ...REQUIRED, REDIS_URL: 'redis://mymaster/1', REDIS_SENTINELS: sentinels });

  test('are addresses, separated by commas', () => {
    expect(read('one.example:26379, 10.0.0.2:26380,[::1]:26379').redisSentinels).toEqual([
      { host: 'one.example', port: 26379 },
      { host: '10.0.0.2', port: 26380 },
      { host: '::1', port: 26379 },
    ]);
  });

  test.each([
    'one',
    'one:',
    ':26379',
    'one:port',
    'one:26379/x',
    'user@one:26379',
    'one:26379,',
    'one:99999',
  ])('are refused as %s', (sentinels) =>
    expect(() => read(sentinels)).toThrow(/^REDIS_SENTINELS: [^\n]+ is not host:port$/),
  );

  test('are refused without a name of the master', () => {
    const environment = { ...REQUIRED, REDIS_SENTINELS: 'one:26379' };
    expect(() => readConfiguration(environment)).toThrow(/^REDIS_SENTINELS: needs REDIS_URL/);
  });
});

describe('the nodes of a Redis Cluster', () => {
  const read = (changed: Record<string, string>) =>
    readConfiguration({
      ...REQUIRED,
      REDIS_URL: 'redis://:password@one:6379',
      REDIS_CLUSTER_NODES: 'one:6379,two:6380',
      ...changed,
    });

  test('are addresses, separated by commas', () => {
    expect(read({}).redisClusterNodes).toEqual([
      { host: 'one', port: 6379 },
      { host: 'two', port: 6380 },
    ]);
  });

  test.each([
    [{ REDIS_URL: '' }, /^REDIS_CLUSTER_NODES: needs REDIS_URL/],
    [{ REDIS_SENTINELS: 'one:26379' }, /^REDIS_CLUSTER_NODES: a cluster has no Sentinels/],
    [{ REDIS_URL: 'redis://one:6379/1' }, /^REDIS_URL: a cluster has only the database 0/],
    [{ REDIS_CLUSTER_NODES: 'one' }, /^REDIS_CLUSTER_NODES: "one" is not host:port/],
  ])('are refused with %j', (changed, reason) => expect(() => read(changed)).toThrow(reason));
});

describe('an unknown variable', () => {
  test.each([
    ['REDIS_URI', 'REDIS_URL'],
    ['DATABSE_URL', 'DATABASE_URL'],
    ['redis_url', 'REDIS_URL'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['REQUEST_PER_SECONDS', 'REQUESTS_PER_SECOND'],
    ['SHUTDOWN_DELAY', 'SHUTDOWN_DELAY_MS'],
    ['SESSION_TTL', 'SESSION_TTL_SECONDS'],
    ['CALLBACK_TIMEOUT_SECONDS', 'CALLBACK_TIMEOUT_MS'],
    ['DEMO_START_BALANSE', 'DEMO_START_BALANCE_MINOR'],
    ['SHUTDOWN_TIMEOUT_MS', undefined],
    ['REDIS_PORT', undefined],
    ['XDG_DATA_DIRS', undefined],
    ['HOSTNAME', undefined],
    ['POST', undefined],
    ['PATH', undefined],
  ])('%s is reported as a misspelt %s', (name, meant) => {
    const { misspelt } = readConfiguration({ ...REQUIRED, [name]: 'x' });
    expect(misspelt).toEqual(meant === undefined ? [] : [{ name, meant }]);
  });

  test('is not reported if the similar variable is set, too', () => {
    const environment = { ...REQUIRED, REDIS_URI: 'x', REDIS_URL: 'redis://localhost' };
    expect(readConfiguration(environment).misspelt).toEqual([]);
  });
});

describe('a weak key', () => {
  const WEAK: [string, string][] = [
    ['ADMIN_API_KEY', SANDBOX_KEYS.ADMIN_API_KEY],
    ['ADMIN_API_KEY', 'k'.repeat(32)],
    ['ADMIN_API_KEY', '0'.repeat(256)],
    ['SECRETS_KEY', SANDBOX_KEYS.SECRETS_KEY],
    ['SECRETS_KEY', SANDBOX.secretsKey.toString('base64url')],
    ['SECRETS_KEY', Buffer.alloc(32).toString('base64')],
    ['SECRETS_KEY', Buffer.alloc(32, 0xff).toString('base64')],
    ['SECRETS_KEY', Buffer.alloc(32, 7).toString('base64')],
  ];
  const SURROUNDINGS = [
    {},
    { NODE_ENV: 'production' },
    { NODE_ENV: 'development' },
    { HOST: '127.0.0.1' },
    { SANDBOX: 'true', HOST: '0.0.0.0' },
  ];
  const refused = SURROUNDINGS.flatMap((environment) =>
    WEAK.map(([name, key]) => ({ name, key, environment: { ...REQUIRED, ...environment, [name]: key } })),
  );

  test.each(refused)('is refused: $name=$key in $environment', ({ name, environment }) => {
    const line = new RegExp(`^${name}: [^\\n]+openssl rand -base64 32[^\\n]*$`);
    expect(() => readConfiguration(environment)).toThrow(ConfigurationError);
    expect(() => readConfiguration(environment)).toThrow(line);
  });

  test.each(WEAK)('may guard the sandbox on loopback: %s=%s', (name, key) => {
    expect(readConfiguration({ SANDBOX: 'true', [name]: key }).sandbox).toBe(true);
  });

  test.each(WEAK.filter(([name]) => name === 'SECRETS_KEY'))(
    'is accepted as the previous key, so that it can be rotated out: %s=%s',
    (_, key) => {
      const keys = { SECRETS_KEY: REQUIRED.SECRETS_KEY, SECRETS_KEY_PREVIOUS: key };
      expect(readConfiguration({ ...REQUIRED, ...keys }).secretsKeyPrevious?.length).toBe(32);
      expect(readSecretsKeys(keys).secretsKeyPrevious?.length).toBe(32);
    },
  );
});

describe('the sandbox', () => {
  test.each(['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1', 'localhost', 'LOCALHOST'])(
    'needs no keys on %s',
    (host) => expect(readConfiguration({ SANDBOX: 'true', HOST: host }).host).toBe(host),
  );

  test.each(['0.0.0.0', '::', '192.168.0.10', '10.0.0.1', '::ffff:10.0.0.1', 'croupier.example'])(
    'needs both keys on %s',
    (host) => {
      const { ADMIN_API_KEY, SECRETS_KEY } = REQUIRED;
      const read = (keys: object) => readConfiguration({ SANDBOX: 'true', HOST: host, ...keys });
      expect(() => read({})).toThrow(/^ADMIN_API_KEY: [^\n]+openssl rand -base64 32/);
      expect(() => read({ SECRETS_KEY })).toThrow(/^ADMIN_API_KEY: [^\n]+openssl rand -base64 32/);
      expect(() => read({ ADMIN_API_KEY })).toThrow(/^SECRETS_KEY: [^\n]+openssl rand -base64 32/);
      expect(read({ ADMIN_API_KEY, SECRETS_KEY }).sandbox).toBe(true);
    },
  );
});

test('the keys of the other commands are required, even beside a sandbox', () => {
  expect(() => readSecretsKeys({ SANDBOX: 'true' })).toThrow(
    /^SECRETS_KEY: is required, even beside a sandbox; it must be the service's$/,
  );
});

describe('the configuration of audit:verify', () => {
  const read = (environment: Record<string, string>) => readAuditProof(environment, { uid: 1000 });

  test('has no key if none is set', () => {
    expect(read({})).toEqual({ dataDir: `${process.cwd()}/data` });
  });

  test('has the keys, the database and the file of heads', () => {
    const secretsKey = Buffer.from('a key of thirty-two bytes, as is');
    expect(read({ SECRETS_KEY: secretsKey.toString('base64'), AUDIT_HEAD_FILE: 'heads' })).toEqual({
      dataDir: `${process.cwd()}/data`,
      secretsKey,
      auditHeadFile: `${process.cwd()}/heads`,
    });
  });

  test('has the key of the sandbox if the service runs with one', () => {
    expect(read({ SANDBOX: 'true' }).secretsKey).toEqual(readConfiguration({ SANDBOX: 'true' }).secretsKey);
  });

  test('is refused if it is invalid', () => {
    expect(() => read({ SECRETS_KEY: 'AAAA' })).toThrow('SECRETS_KEY: must be 32 bytes in base64');
  });
});
