import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { type Configuration, readConfiguration } from '../../src/config/configuration.js';
import { readEnvironment } from '../../src/config/environment.js';
import type { Environment } from '../../src/config/variable-reader.js';
import { documentedRows } from './document.js';

const REQUIRED = {
  ADMIN_API_KEY: 'an-admin-key-of-these-tests-0123456789',
  SECRETS_KEY: randomBytes(32).toString('base64'),
};

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

/** One default of several: a literal or a word, and the circumstance in which it applies. */
const DEFAULT = /(?:`([^`]+)`|(required|a built-in key|none))(?: ((?:with|as|under) [^,]+))?(?:, |$)/g;
const RANGE = /^(\d+) to (\d+)(?:,|$)/;
/** Literals only, separated by commas and `or`. */
const CHOICE = /^`[\w+-]+`(?:(?:, | or )`[\w-]+`)*$/;
