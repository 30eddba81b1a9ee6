import { join, resolve } from 'node:path';
import { ConfigurationError, type Environment, type Reader, reader } from './variable-reader.js';
import { adminApiKey, checkProductionKeys, type SecretsKeys, secretsKeys } from './keys.js';
import { type Misspelling, misspeltVariables } from './misspelt.js';
import { type Address, redis } from './redis-variables.js';
import { tracing, type TracingConfiguration } from './tracing-variables.js';
import { isLoopback, trustedProxies, trustsEveryone } from './trusted-proxies.js';

/** The environment as one validated, frozen object. Contract, section 8. */
export abstract class Configuration {
  readonly port: number;
  readonly host: string;
  /** URL of an existing PostgreSQL; without it, the service starts and supervises one in `dataDir`. */
  readonly databaseUrl?: string | undefined;
  readonly dataDir: string;
  /** URL of the Redis that shares nonces, rate limits and DEMO balances; without it, only one instance may run. */
  readonly redisUrl?: string | undefined;
  /**
   * Redis Sentinels. With them, the host in `redisUrl` is the name of the master; without them, it is the address of
   * the Redis server.
   */
  readonly redisSentinels?: readonly Address[] | undefined;
  /** One or more nodes of a Redis Cluster; they report the others. `redisUrl` has the protocol and the credentials. */
  readonly redisClusterNodes?: readonly Address[] | undefined;
  readonly sandbox: boolean;
  readonly production: boolean;
  readonly adminApiKey: string;
  /**
   * 32 bytes: encrypts the stored tenant secrets (AES-256-GCM). The key of the audit log's seals is derived from it.
   */
  readonly secretsKey: Buffer;
  /** A second key, only to decrypt secrets and to verify seals, while `SECRETS_KEY` is being rotated. */
  readonly secretsKeyPrevious?: Buffer | undefined;
  /** File outside of the database that keeps heads of the audit log, which `audit:verify` checks. */
  readonly auditHeadFile?: string | undefined;
  /** The issuer whose JWTs are accepted beside admin keys; without it, no JWTs are accepted. */
  readonly adminJwt?: AdminJwt | undefined;
  /** Addresses or CIDR blocks of the proxies whose `X-Forwarded-For` is trusted. */
  readonly trustProxy: readonly string[];
  readonly outboundAllowPrivate: boolean;
  readonly signatureToleranceSeconds: number;
  readonly requestsPerSecond: number;
  readonly operatorTimeoutMs: number;
  /**
   * Maximum number of concurrent calls from this instance to one operator, for BETs and balance reads. For WIN,
   * ROLLBACK and ADJUSTMENT it is `SETTLING_FACTOR` times as high.
   */
  readonly operatorMaxInFlight: number;
  readonly callbackTimeoutMs: number;
  /** Delay from a stop signal until the listener closes, in milliseconds. */
  readonly shutdownDelayMs: number;
  readonly transactionLeaseSeconds: number;
  readonly groupCommit: boolean;
  /**
   * A URL of the same database, with a role that has group commit's settings. Without it, the connections apply the
   * settings themselves.
   */
  readonly groupCommitDatabaseUrl?: string | undefined;
  readonly sessionTtlSeconds: number;
  readonly demoStartBalanceMinor: number;
  readonly logLevel: LogLevel;
  /** Whether log lines are formatted for people (the sandbox on a terminal) or as JSON. */
  readonly logPretty: boolean;
  readonly metricsToken?: string | undefined;
  /** Where spans are exported; without it, tracing is off. */
  readonly tracing?: TracingConfiguration | undefined;
  readonly docsEnabled: boolean;
  readonly consoleEnabled: boolean;
  /** Maximum number of open connections of one IPv4 address or IPv6 /64; addresses in `trustProxy` are exempt. */
  readonly maxConnectionsPerAddress: number;
  /** Unknown variables whose names are similar to a known one. */
  readonly misspelt: readonly Misspelling[];
}

/** An OpenID provider whose tokens administrators may use. */
export interface AdminJwt {
  /** The exact `iss` of accepted tokens. */
  readonly issuer: string;
  readonly audience: string;
  /** The claim that holds the role, or a list of roles. */
  readonly roleClaim: string;
  /** The required `typ` of a token's header, if any. */
  readonly typ?: 'at+jwt';
  /** The console's client id at the issuer; without it, the console asks for a key only. */
  readonly clientId?: string;
  /** The scope that the console asks for. */
  readonly scope: string;
}

const POSTGRES_PROTOCOLS = ['postgres:', 'postgresql:'];

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

/** Minimum difference between a transaction's lease and any operator's time-out, in milliseconds. */
export const LEASE_MARGIN_MS = 1000;

/**
 * Factor by which the maximum number of concurrent calls to one operator is higher for WIN, ROLLBACK and ADJUSTMENT
 * than for BETs. Contract, section 9.
 */
export const SETTLING_FACTOR = 4;

/**
 * Reads and checks every variable of the contract's section 8.
 * @throws ConfigurationError naming the first variable that is wrong
 */
export function readConfiguration(
  environment: Environment,
  process: { uid: number | undefined; terminal: boolean } = { uid: undefined, terminal: false },
): Configuration {
  const read = reader(environment);
  const sandbox = read.boolean('SANDBOX', false);
  const production = environment['NODE_ENV'] === 'production';
  if (sandbox && production) {
    throw new ConfigurationError(
      'SANDBOX: the sandbox uses play money and is refused with NODE_ENV=production',
    );
  }
  const host = read.text('HOST') ?? (sandbox ? '127.0.0.1' : '0.0.0.0');
  const publicKeysAllowed = sandbox && isLoopback(host);
  const operatorTimeoutMs = read.integer('OPERATOR_TIMEOUT_MS', 5000, 1, 600_000);
  const transactionLeaseSeconds = read.integer('TRANSACTION_LEASE_SECONDS', 30, 2, 3600);
  if (transactionLeaseSeconds * 1000 < operatorTimeoutMs + LEASE_MARGIN_MS) {
    throw new ConfigurationError(
      `TRANSACTION_LEASE_SECONDS: ${transactionLeaseSeconds} must be at least 1 s longer than OPERATOR_TIMEOUT_MS (${operatorTimeoutMs})`,
    );
  }
  const outboundAllowPrivate = read.boolean('OUTBOUND_ALLOW_PRIVATE', sandbox);
  const configuration = {
    port: read.integer('PORT', 3000, 0, 65_535),
    host,
    ...storage(read, process.uid),
    ...redis(read),
    sandbox,
    production,
    adminApiKey: adminApiKey(read, publicKeysAllowed),
    ...secretsKeys(read, publicKeysAllowed),
    auditHeadFile: auditHeadFile(read),
    adminJwt: adminJwt(read, outboundAllowPrivate),
    trustProxy: trustedProxies(read),
    outboundAllowPrivate,
    signatureToleranceSeconds: read.integer('SIGNATURE_TOLERANCE_SECONDS', 300, 1, 86_400),
    requestsPerSecond: read.integer('REQUESTS_PER_SECOND', 200, 1, 1_000_000),
    operatorTimeoutMs,
    operatorMaxInFlight: read.integer('OPERATOR_MAX_IN_FLIGHT', 256, 1, 10_000),
    callbackTimeoutMs: read.integer('CALLBACK_TIMEOUT_MS', 10_000, 1, 600_000),
    shutdownDelayMs: read.integer('SHUTDOWN_DELAY_MS', production ? 5_000 : 0, 0, 600_000),
    transactionLeaseSeconds,
    groupCommit: read.boolean('GROUP_COMMIT', true),
    groupCommitDatabaseUrl: read.url('GROUP_COMMIT_DATABASE_URL', POSTGRES_PROTOCOLS),
    sessionTtlSeconds: read.integer('SESSION_TTL_SECONDS', 86_400, 1, 31_536_000),
    demoStartBalanceMinor: read.integer('DEMO_START_BALANCE_MINOR', 100_000, 0, Number.MAX_SAFE_INTEGER),
    logLevel: read.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
    logPretty: sandbox && process.terminal,
    tracing: tracing(read),
    metricsToken: metricsToken(read.text('METRICS_TOKEN')),
    docsEnabled: docsEnabled(read, sandbox),
    consoleEnabled: read.boolean('CONSOLE_ENABLED', true),
    maxConnectionsPerAddress: read.integer('MAX_CONNECTIONS_PER_ADDRESS', 1000, 1, 1_000_000),
  };
  if (production) {
    checkProductionKeys(read, configuration.adminApiKey, configuration);
    if (trustsEveryone(configuration.trustProxy)) {
      throw new ConfigurationError(
        'TRUST_PROXY: trusts any caller to name its own address; list only the addresses of your proxies',
      );
    }
  }
  return Object.freeze({ ...configuration, misspelt: misspeltVariables(environment, read.names) });
}

function metricsToken(value: string | undefined): string | undefined {
  if (value === undefined || /^[\x21-\x7e]+$/.test(value)) return value;
  throw new ConfigurationError('METRICS_TOKEN: must be printable ASCII characters without spaces');
}

function docsEnabled(read: Reader, sandbox: boolean): boolean {
  const value = read.oneOf('DOCS_ENABLED', ['true', 'false', 'sandbox-only'], 'true');
  return value === 'sandbox-only' ? sandbox : value === 'true';
}

export type Storage = Pick<Configuration, 'databaseUrl' | 'dataDir'>;

/** @throws ConfigurationError naming the variable that is wrong */
export function readStorage(environment: Environment, process: { uid: number | undefined }): Storage {
  return storage(reader(environment), process.uid);
}

function storage(read: Reader, uid: number | undefined): Storage {
  const dataDir = read.text('DATA_DIR') ?? (uid === 0 ? join('/var/lib', 'croupier') : './data');
  return {
    databaseUrl: read.url('DATABASE_URL', POSTGRES_PROTOCOLS),
    dataDir: resolve(dataDir),
  };
}

/**
 * Reads the keys for the stored tenant secrets. A weak or public `SECRETS_KEY` is refused, even with the sandbox.
 * @throws ConfigurationError naming the variable that is wrong
 */
export function readSecretsKeys(environment: Environment): SecretsKeys {
  const read = reader(environment);
  if (read.text('SECRETS_KEY') === undefined) {
    throw new ConfigurationError("SECRETS_KEY: is required, even beside a sandbox; it must be the service's");
  }
  return secretsKeys(read, false);
}

/** The configuration of `audit:verify` and `audit:archive --detach`. Without a key, no seal or secret is checked. */
export type AuditProof = Storage & Partial<SecretsKeys> & Pick<Configuration, 'auditHeadFile'>;

/** @throws ConfigurationError naming the variable that is wrong */
export function readAuditProof(environment: Environment, process: { uid: number | undefined }): AuditProof {
  const read = reader(environment);
  const sandbox = read.boolean('SANDBOX', false);
  const keyed = sandbox || read.text('SECRETS_KEY') !== undefined;
  return {
    ...storage(read, process.uid),
    ...(keyed && secretsKeys(read, sandbox)),
    auditHeadFile: auditHeadFile(read),
  };
}

function auditHeadFile(read: Reader): string | undefined {
  const path = read.text('AUDIT_HEAD_FILE');
  return path === undefined ? undefined : resolve(path);
}

/**
 * Reads the OpenID provider of administrators, if one is configured.
 * @param allowPlain whether the issuer may be plain http
 */
function adminJwt(read: Reader, allowPlain: boolean): AdminJwt | undefined {
  const issuer = read.url('ADMIN_JWT_ISSUER', allowPlain ? ['https:', 'http:'] : ['https:']);
  const audience = read.text('ADMIN_JWT_AUDIENCE');
  const roleClaim = read.text('ADMIN_JWT_ROLE_CLAIM') ?? 'role';
  const typ = read.text('ADMIN_JWT_TYP');
  if (typ !== undefined && typ !== 'at+jwt') throw new ConfigurationError('ADMIN_JWT_TYP: must be at+jwt');
  const clientId = read.text('ADMIN_JWT_CLIENT_ID');
  const scope = read.text('ADMIN_JWT_SCOPE') ?? 'openid';
  if (issuer === undefined && audience === undefined) return undefined;
  if (issuer === undefined)
    throw new ConfigurationError('ADMIN_JWT_ISSUER: is required with ADMIN_JWT_AUDIENCE');
  // Without an audience, a token that the issuer made for another service would be accepted here.
  if (audience === undefined)
    throw new ConfigurationError('ADMIN_JWT_AUDIENCE: is required with ADMIN_JWT_ISSUER');
  return {
    issuer,
    audience,
    roleClaim,
    scope,
    ...(typ && { typ }),
    ...(clientId !== undefined && { clientId }),
  };
}
