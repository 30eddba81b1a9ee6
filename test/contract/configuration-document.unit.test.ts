import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { type Configuration, readConfiguration } from '../../src/config/configuration.js';
import { readEnvironment } from '../../src/config/environment.js';
import type { Environment } from '../../src/config/variable-reader.js';
import { patternOfKey } from '../../src/config/keys.js';
import { documentedRows } from './document.js';

const REQUIRED = {
  ADMIN_API_KEY: 'an-admin-key-of-these-tests-0123456789',
  SECRETS_KEY: randomBytes(32).toString('base64'),
};

/** Keys that are both an ADMIN_API_KEY and 32 bytes in base64. */
const SHARED_KEYS = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64url')];
/** 32 characters that are an ADMIN_API_KEY, and whose bytes are a SECRETS_KEY. */
const BYTES = 'Zq8-v3K_tx91LmRw04sYbD7hGfN2cJ5e';
const PATTERNS = [
  'ab'.repeat(16),
  'x9k'.repeat(12),
  '0123456789abcdef'.repeat(2),
  'abcdefghijklmnopqrstuvwxyz012345',
  '9876543210'.repeat(4),
  'ChangeMe7Rk20fGq8Zt5Wm3XcVbNs4Yh',
  'Xk8mPASSWORD4Zt5Wm3XcVbNs4YhRw2q',
];
const RANDOM_TEXTS = [
  BYTES,
  ...['base64', 'base64url', 'hex'].map((form) => randomBytes(32).toString(form as 'hex')),
];

interface Variable {
  /** The value that the service reads from the variable. */
  readonly of: (configuration: Configuration) => unknown;
  /** Other variables without which this one has no effect, or which bound it. */
  readonly with?: Environment;
}

const JWT = { ADMIN_JWT_ISSUER: 'https://id.example', ADMIN_JWT_AUDIENCE: 'croupier' };
const TRACING = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

const VARIABLES: Record<string, Variable> = {
  NODE_ENV: { of: ({ production }) => production || undefined },
  PORT: { of: ({ port }) => port },
  HOST: { of: ({ host }) => host },
  DATABASE_URL: { of: ({ databaseUrl }) => databaseUrl },
  DATA_DIR: { of: ({ dataDir }) => dataDir },
  REDIS_URL: { of: ({ redisUrl }) => redisUrl },
  REDIS_SENTINELS: { of: ({ redisSentinels }) => redisSentinels },
  REDIS_CLUSTER_NODES: { of: ({ redisClusterNodes }) => redisClusterNodes },
  SANDBOX: { of: ({ sandbox }) => sandbox },
  ADMIN_API_KEY: { of: ({ adminApiKey }) => adminApiKey },
  SECRETS_KEY: { of: ({ secretsKey }) => secretsKey },
  SECRETS_KEY_PREVIOUS: { of: ({ secretsKeyPrevious }) => secretsKeyPrevious },
  AUDIT_HEAD_FILE: { of: ({ auditHeadFile }) => auditHeadFile },
  ADMIN_JWT_ISSUER: { of: ({ adminJwt }) => adminJwt },
  ADMIN_JWT_AUDIENCE: { of: ({ adminJwt }) => adminJwt },
  ADMIN_JWT_ROLE_CLAIM: { of: ({ adminJwt }) => adminJwt?.roleClaim, with: JWT },
  ADMIN_JWT_TYP: { of: ({ adminJwt }) => adminJwt?.typ, with: JWT },
  ADMIN_JWT_CLIENT_ID: { of: ({ adminJwt }) => adminJwt?.clientId, with: JWT },
  ADMIN_JWT_SCOPE: { of: ({ adminJwt }) => adminJwt?.scope, with: JWT },
  TRUST_PROXY: { of: ({ trustProxy }) => (trustProxy.length === 0 ? undefined : trustProxy) },
  MAX_CONNECTIONS_PER_ADDRESS: { of: ({ maxConnectionsPerAddress }) => maxConnectionsPerAddress },
  OUTBOUND_ALLOW_PRIVATE: { of: ({ outboundAllowPrivate }) => outboundAllowPrivate },
  SIGNATURE_TOLERANCE_SECONDS: { of: ({ signatureToleranceSeconds }) => signatureToleranceSeconds },
  REQUESTS_PER_SECOND: { of: ({ requestsPerSecond }) => requestsPerSecond },
  OPERATOR_TIMEOUT_MS: {
    of: ({ operatorTimeoutMs }) => operatorTimeoutMs,
    with: { TRANSACTION_LEASE_SECONDS: '3600' },
  },
  OPERATOR_MAX_IN_FLIGHT: { of: ({ operatorMaxInFlight }) => operatorMaxInFlight },
  CALLBACK_TIMEOUT_MS: { of: ({ callbackTimeoutMs }) => callbackTimeoutMs },
  SHUTDOWN_DELAY_MS: { of: ({ shutdownDelayMs }) => shutdownDelayMs },
  TRANSACTION_LEASE_SECONDS: {
    of: ({ transactionLeaseSeconds }) => transactionLeaseSeconds,
    with: { OPERATOR_TIMEOUT_MS: '1' },
  },
  GROUP_COMMIT: { of: ({ groupCommit }) => groupCommit },
  GROUP_COMMIT_DATABASE_URL: { of: ({ groupCommitDatabaseUrl }) => groupCommitDatabaseUrl },
  SESSION_TTL_SECONDS: { of: ({ sessionTtlSeconds }) => sessionTtlSeconds },
  DEMO_START_BALANCE_MINOR: { of: ({ demoStartBalanceMinor }) => demoStartBalanceMinor },
  LOG_LEVEL: { of: ({ logLevel }) => logLevel },
  METRICS_TOKEN: { of: (configuration) => configuration.metricsToken },
  OTEL_EXPORTER_OTLP_ENDPOINT: { of: ({ tracing }) => tracing?.endpoint },
  OTEL_EXPORTER_OTLP_HEADERS: {
    of: ({ tracing }) => Object.keys(tracing?.headers ?? {})[0],
    with: TRACING,
  },
  OTEL_SERVICE_NAME: { of: ({ tracing }) => tracing?.serviceName, with: TRACING },
  OTEL_TRACES_SAMPLER_ARG: { of: ({ tracing }) => tracing?.sampleRatio, with: TRACING },
  DOCS_ENABLED: { of: ({ docsEnabled }) => docsEnabled },
  CONSOLE_ENABLED: { of: ({ consoleEnabled }) => consoleEnabled },
};

/** Reads the configuration in the circumstances that a cell of defaults names. */
const CIRCUMSTANCES: Record<string, (environment: Environment) => Configuration> = {
  '': (environment) => readConfiguration(environment),
  'with the sandbox': (environment) => readConfiguration({ ...environment, SANDBOX: 'true' }),
  'as root': (environment) => readConfiguration(environment, { uid: 0, terminal: false }),
  'with `NODE_ENV=production`': (environment) =>
    readConfiguration({ ...environment, NODE_ENV: 'production' }),
  'under `npm start`': (environment) => {
    vi.stubEnv('npm_lifecycle_event', 'start');
    try {
      return readEnvironment((started) => readConfiguration({ ...environment, SANDBOX: started['SANDBOX'] }));
    } finally {
      vi.unstubAllEnvs();
    }
  },
};

describe('section 8, the table of variables', () => {
  const named = Object.entries(VARIABLES).map(([name, variable]) => [`\`${name}\``, variable] as const);
  const rows = documentedRows('configuration', Object.fromEntries(named)).map(({ row, scenario }) => {
    const [name = '', defaults = '', values = ''] = row;
    return { name: name.replaceAll('`', ''), defaults, values, scenario };
  });

  test('has exactly the variables that are read', () => {
    const read = new Set<string>();
    const environment: Environment = new Proxy<Environment>(REQUIRED, {
      get: (target, name: string) => {
        read.add(name);
        return target[name];
      },
    });
    readConfiguration(environment);
    expect([...read].sort()).toEqual(rows.map(({ name }) => name).sort());
  });

  test.each(rows)('$name is by default $defaults', ({ name, defaults, scenario }) => {
    const each = [...defaults.matchAll(DEFAULT)];
    expect(each).toHaveLength(defaults.split(', ').length);
    for (const [, literal, word, circumstance = ''] of each) {
      const environment = { ...REQUIRED, ...scenario.with, [name]: undefined };
      const read = () => scenario.of(CIRCUMSTANCES[circumstance]!(environment));
      if (word === 'required') expect(read).toThrow(`${name}: is required`);
      else if (word === 'a built-in key') expect(read()).toBeDefined();
      else if (word === 'none') expect(read()).toBeUndefined();
      else expect(String(read())).toBe(name === 'DATA_DIR' ? resolve(literal!) : literal);
    }
  });

  test.each(rows.filter(({ values }) => RANGE.test(values)))(
    '$name is $values',
    ({ name, values, scenario }) => {
      const [, least, most] = RANGE.exec(values)!;
      const read = (value: number | bigint) =>
        scenario.of(readConfiguration({ ...REQUIRED, ...scenario.with, [name]: String(value) }));
      for (const bound of [least, most]) expect(String(read(BigInt(bound!)))).toBe(bound);
      for (const beyond of [BigInt(least!) - 1n, BigInt(most!) + 1n])
        expect(() => read(beyond)).toThrow(new RegExp(`^${name}: `));
    },
  );

  test.each(rows.filter(({ values }) => CHOICE.test(values)))(
    '$name is one of $values',
    ({ name, values, scenario }) => {
      const read = (value: string) => readConfiguration({ ...REQUIRED, ...scenario.with, [name]: value });
      for (const [, value] of values.matchAll(/`([^`]+)`/g)) expect(read(value!)).toBeDefined();
      expect(() => read('another')).toThrow(new RegExp(`^${name}: `));
    },
  );

  test('.env.example has the same defaults', () => {
    const example = readFileSync(join(import.meta.dirname, '../../.env.example'), 'utf8');
    const set = [...example.matchAll(/^([A-Z_]+)=(.+)$/gm)].map(([, name, value]) => [name, `\`${value}\``]);
    expect(set.length).toBeGreaterThan(5);
    const documented = rows.map(({ name, defaults }) => [name, defaults]);
    expect(documented).toEqual(expect.arrayContaining(set));
  });
});

/** For each row, values that production refuses and values that it accepts. */
const PRODUCTION: Record<string, { refused: readonly Environment[]; accepted: readonly Environment[] }> = {
  '`TRUST_PROXY`': {
    refused: [
      '0.0.0.0/1,128.0.0.0/1',
      '0.0.0.0/2,64.0.0.0/2',
      '128.0.0.0/1',
      '::ffff:0:0/96',
      '::/1',
      '2000::/3',
      '2000::/4',
      '2000::/5,2800::/5',
    ].map((TRUST_PROXY) => ({ TRUST_PROXY })),
    accepted: [
      'loopback',
      'loopback,linklocal,uniquelocal',
      '10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7',
      '203.0.113.7',
      '2001:db8::/32',
      '0.0.0.0/2,0.0.0.0/2,1.0.0.0/8',
      '8000::/1',
    ].map((TRUST_PROXY) => ({ TRUST_PROXY })),
  },
  '`ADMIN_API_KEY`': {
    refused: [
      ...SHARED_KEYS.map((key) => ({ ADMIN_API_KEY: key, SECRETS_KEY: key })),
      { ADMIN_API_KEY: BYTES, SECRETS_KEY: Buffer.from(BYTES).toString('base64') },
      ...PATTERNS.map((ADMIN_API_KEY) => ({ ADMIN_API_KEY })),
    ],
    accepted: RANDOM_TEXTS.map((ADMIN_API_KEY) => ({ ADMIN_API_KEY })),
  },
  '`SECRETS_KEY`': {
    refused: [
      ...PATTERNS.map((text) => ({ SECRETS_KEY: Buffer.from(text.slice(0, 32)).toString('base64') })),
      ...PATTERNS.map((text) => ({ SECRETS_KEY: `${text.padEnd(43, text).slice(0, 42)}A=` })),
      { SECRETS_KEY: Buffer.from(Array.from({ length: 32 }, (_, index) => index)).toString('base64') },
    ],
    accepted: [{ SECRETS_KEY: REQUIRED.SECRETS_KEY }],
  },
};

describe('section 8, the table of what production refuses', () => {
  const rows = documentedRows('production', PRODUCTION).map(({ row: [name = ''], scenario }) => ({
    name: name.replaceAll('`', ''),
    ...scenario,
  }));

  test.each(rows)('$name', ({ name, refused, accepted }) => {
    const read = (values: Environment, NODE_ENV?: string) =>
      readConfiguration({ ...REQUIRED, ...values, NODE_ENV });
    for (const values of refused) {
      expect(() => read(values, 'production'), JSON.stringify(values)).toThrow(
        new RegExp(`^${name}: [^\\n]+$`),
      );
      expect(read(values).production).toBe(false);
    }
    for (const values of accepted) expect(read(values, 'production').production).toBe(true);
  });

  test('a refused SECRETS_KEY may be the previous one', () => {
    const previous = { SECRETS_KEY_PREVIOUS: Buffer.alloc(32, 'ab').toString('base64') };
    expect(readConfiguration({ ...REQUIRED, ...previous, NODE_ENV: 'production' }).production).toBe(true);
  });

  test('a random key has no pattern', () => {
    for (let count = 0; count < 10_000; count += 1) {
      const key = randomBytes(32);
      const texts = [
        key.toString('base64'),
        key.toString('hex'),
        key.toString('hex', 0, 16),
        key.toString('latin1'),
      ];
      expect(texts.map(patternOfKey).filter(Boolean)).toEqual([]);
    }
  });
});

/** One default of several: a literal or a word, and the circumstance in which it applies. */
const DEFAULT = /(?:`([^`]+)`|(required|a built-in key|none))(?: ((?:with|as|under) [^,]+))?(?:, |$)/g;
const RANGE = /^(\d+) to (\d+)(?:,|$)/;
/** Literals only, separated by commas and `or`. */
const CHOICE = /^`[\w+-]+`(?:(?:, | or )`[\w-]+`)*$/;
