import { once } from 'node:events';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Redis } from 'ioredis';
import { Configuration } from '../config/configuration.js';

/** Time-out of a command, in milliseconds. */
const COMMAND_TIMEOUT_MS = 1_000;

/** The one connection to Redis; without `REDIS_URL` there is none and everything is kept in process. */
@Injectable()
export class RedisConnection implements OnModuleInit, OnApplicationShutdown {
  readonly client: Redis | undefined;
  private readonly logger = new Logger('Redis');
  private reportedLost = false;
  private stopping = false;

  constructor(configuration: Configuration) {
    if (configuration.redisUrl === undefined) return;
    // Commands fail at once while Redis is unavailable: queued commands would make transactions wait.
    const { redisUrl, redisSentinels } = configuration;
    this.client = new Redis(redisUrl, {
      commandTimeout: COMMAND_TIMEOUT_MS,
      connectTimeout: COMMAND_TIMEOUT_MS,
      maxRetriesPerRequest: 0,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      // Connected in `onModuleInit`: a start that fails earlier must not leave a connection that keeps the process
      // alive.
      lazyConnect: true,
      // The master has become a replica: the next connection leads to the new master.
      reconnectOnError: ({ message }) => message.includes('READONLY'),
      ...(redisSentinels && {
        sentinels: [...redisSentinels],
        name: new URL(redisUrl).hostname,
        failoverDetector: true,
        enableTLSForSentinelMode: redisUrl.startsWith('rediss:'),
      }),
    });
    this.client.on('error', (error: Error) => this.lost(error.message));
    this.client.on('close', () => this.lost('the connection was closed'));
    this.client.on('ready', () => this.recovered());
  }

  /** Whether Redis answers, for monitoring; undefined without `REDIS_URL`. */
  async answers(): Promise<boolean | undefined> {
    return this.client?.ping().then(
      () => true,
      () => false,
    );
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

  /** Logs one line when Redis is lost, however many reconnects fail, and one when it is back. */
  private lost(detail: string): void {
    if (this.reportedLost || this.stopping) return;
    this.reportedLost = true;
    this.logger.warn({ msg: 'Redis unavailable: signed calls are refused until it is back', detail });
  }

  private recovered(): void {
    if (this.reportedLost) this.logger.log({ msg: 'Redis is available again' });
    this.reportedLost = false;
  }
}
