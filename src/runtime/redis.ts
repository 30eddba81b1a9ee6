import { once } from 'node:events';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Redis } from 'ioredis';
import { Configuration } from '../config/configuration.js';

/** A command that Redis does not answer within this time has failed, in milliseconds. */
const COMMAND_TIMEOUT_MS = 1_000;

/** The one connection to Redis; without `REDIS_URL` there is none and everything is kept in process. */
@Injectable()
export class RedisConnection implements OnModuleInit, OnApplicationShutdown {
  readonly client: Redis | undefined;
  private readonly logger = new Logger('Redis');

  constructor(configuration: Configuration) {
    if (!configuration.redisUrl) return;
    // Commands fail at once while Redis is away: what waits in a queue would be money waiting.
    this.client = new Redis(configuration.redisUrl, {
      commandTimeout: COMMAND_TIMEOUT_MS,
      connectTimeout: COMMAND_TIMEOUT_MS,
      maxRetriesPerRequest: 0,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      // Connected in `onModuleInit`: a start that fails before it must not leave a connection that keeps the process.
      lazyConnect: true,
    });
    this.client.on('error', (error: Error) =>
      this.logger.warn({ msg: 'redis is away', error: error.message }),
    );
  }

  /** Gives Redis a moment to answer; without it the service starts all the same and fails closed. */
  async onModuleInit(): Promise<void> {
    if (!this.client) return;
    this.client.connect().catch((): void => undefined);
    const patience = AbortSignal.timeout(COMMAND_TIMEOUT_MS);
    await once(this.client, 'ready', { signal: patience }).catch((): void => undefined);
  }

  onApplicationShutdown(): void {
    this.client?.disconnect();
  }
}
