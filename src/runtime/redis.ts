import { type EventEmitter, once } from 'node:events';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Cluster, Redis } from 'ioredis';
import { Configuration } from '../config/configuration.js';
import type { Address } from '../config/redis-variables.js';
import { monotonicMs } from './clock.js';
import { failureText } from './failure-text.js';

/** Time-out of a command, of connecting, and of the wait for Redis at the start, in milliseconds. */
const COMMAND_TIMEOUT_MS = 1_000;
/** Pause before a new connection when ioredis has given up, in milliseconds. */
const CONNECT_AGAIN_MS = 100;
/**
 * Minimum time between two reconnects because Redis is read-only, in milliseconds. Each leads to the same server until,
 * for example, DNS names the new master.
 */
const READ_ONLY_RECONNECT_MS = 500;
/** Pause before the next attempt to connect to a cluster, in milliseconds. */
const CLUSTER_RETRY_MS = 500;
/**
 * Maximum number of retries of a command in a cluster. A command is retried if its slot has moved to another node or
 * the node of its slot is unavailable.
 */
const CLUSTER_ATTEMPTS = 3;
/** Pause before a command is retried because the node of its slot is unavailable, in milliseconds. */
const CLUSTER_PAUSE_MS = 50;

/**
 * The key that `acceptsWrites` sets, and after how many seconds it expires. It is never read: a full Redis, or one that
 * has lost its replicas, still answers a PING, but refuses the claim of a nonce.
 */
const PROBE_KEY = 'croupier:probe';
const PROBE_SECONDS = 60;

/** Commands fail at once while Redis is unavailable: queued commands would make transactions wait. */
const FAIL_AT_ONCE = {
  commandTimeout: COMMAND_TIMEOUT_MS,
  connectTimeout: COMMAND_TIMEOUT_MS,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
};

/** The only connection to Redis. Without `REDIS_URL` there is none; data is kept in memory or in PostgreSQL. */
@Injectable()
export class RedisConnection implements OnModuleInit, OnApplicationShutdown {
  readonly client: Redis | Cluster | undefined;
  private readonly logger = new Logger('Redis');
  private reportedLost = false;
  /** When Redis was left because it is read-only, by the monotonic clock. */
  private leftReadOnlyMs = -Infinity;
  private stopping = false;

  constructor({ redisUrl, redisSentinels, redisClusterNodes }: Configuration) {
    if (redisUrl === undefined) return;
    this.client = redisClusterNodes
      ? clusterClient(redisUrl, redisClusterNodes)
      : serverClient(redisUrl, redisSentinels, (error) => this.leavesReadOnly(error));
    const events: EventEmitter = this.client;
    events.on('error', (error: Error) => this.reportLost(failureText(error)));
    events.on('close', () => this.reportLost('the connection was closed'));
    // A connection alone is no proof: the server may be full or read-only.
    events.on('ready', () => void this.acceptsWrites());
    events.on('end', () => this.connectAgain());
  }

  /**
   * Whether Redis accepts a write, as the claim of a nonce is one; undefined without `REDIS_URL`. Of a cluster, only one
   * node is written to, but all slots must have a node.
   */
  async acceptsWrites(): Promise<boolean | undefined> {
    const { client } = this;
    if (!client) return undefined;
    try {
      if (client instanceof Cluster) await assertComplete(client);
      await client.set(PROBE_KEY, '1', 'EX', PROBE_SECONDS);
      this.reportAvailable();
      return true;
    } catch (error) {
      this.reportLost(failureText(error));
      return false;
    }
  }

  /** Waits briefly for Redis. If it is unavailable, the service starts anyway and refuses signed calls. */
  async onModuleInit(): Promise<void> {
    if (!this.client) return;
    this.client.connect().catch((): void => undefined);
    const patience = AbortSignal.timeout(COMMAND_TIMEOUT_MS);
    await once(this.client, 'ready', { signal: patience }).catch((): void => undefined);
  }

  onApplicationShutdown(): void {
    this.stopping = true;
    this.client?.disconnect();
  }

  /**
   * Reconnects after ioredis has given up for good, as it does if a Sentinel announces a fail-over while the client
   * is opening a connection.
   */
  private connectAgain(): void {
    if (this.stopping) return;
    setTimeout(() => {
      if (!this.stopping) this.client?.connect().catch((): void => undefined);
    }, CONNECT_AGAIN_MS).unref();
  }

  /**
   * Whether an error calls for a new connection: the master has become a replica, and a new connection leads to the new
   * master, if its address is already known.
   */
  private leavesReadOnly({ message }: Error): boolean {
    if (!message.includes('READONLY')) return false;
    // The `close` event would not name the cause.
    this.reportLost(message);
    const nowMs = monotonicMs();
    if (nowMs - this.leftReadOnlyMs < READ_ONLY_RECONNECT_MS) return false;
    this.leftReadOnlyMs = nowMs;
    return true;
  }

  /** Logs that Redis is unavailable: only once until it accepts writes again, however often it is reconnected. */
  private reportLost(detail: string): void {
    if (this.reportedLost || this.stopping) return;
    this.reportedLost = true;
    this.logger.warn({ msg: 'Redis unavailable: signed calls are refused until it is back', detail });
  }

  private reportAvailable(): void {
    if (this.reportedLost) this.logger.log({ msg: 'Redis is available again' });
    this.reportedLost = false;
  }
}

/**
 * When a cluster loses a node, the connections to its other nodes stay open, so no `close` event reports the loss.
 * @throws Error if a slot has no node, or the cluster does not answer
 */
async function assertComplete(client: Cluster): Promise<void> {
  const state = await client.cluster('INFO');
  if (!state.includes('cluster_state:ok')) throw new Error('not all slots of the cluster are served');
}

/**
 * The client connects only in `onModuleInit`: a start that fails earlier must not leave a connection that keeps the
 * process alive.
 */
const CONNECT_ON_DEMAND = { lazyConnect: true, enableOfflineQueue: false };

function serverClient(
  url: string,
  sentinels: readonly Address[] | undefined,
  reconnectOnError: (error: Error) => boolean,
): Redis {
  return new Redis(url, {
    ...FAIL_AT_ONCE,
    ...CONNECT_ON_DEMAND,
    reconnectOnError,
    ...(sentinels && {
      sentinels: [...sentinels],
      name: new URL(url).hostname,
      failoverDetector: true,
      enableTLSForSentinelMode: url.startsWith('rediss:'),
    }),
  });
}

function clusterClient(url: string, nodes: readonly Address[]): Cluster {
  const { protocol, username, password } = new URL(url);
  return new Cluster([...nodes], {
    ...CONNECT_ON_DEMAND,
    maxRedirections: CLUSTER_ATTEMPTS,
    retryDelayOnFailover: CLUSTER_PAUSE_MS,
    retryDelayOnClusterDown: CLUSTER_PAUSE_MS,
    clusterRetryStrategy: () => CLUSTER_RETRY_MS,
    // A certificate contains the name of the host, so the name must not be replaced by an address.
    ...(protocol === 'rediss:' && { dnsLookup: (name, answer) => answer(null, name) }),
    redisOptions: {
      ...FAIL_AT_ONCE,
      ...(username !== '' && { username: decodeURIComponent(username) }),
      ...(password !== '' && { password: decodeURIComponent(password) }),
      ...(protocol === 'rediss:' && { tls: {} }),
    },
  });
}
