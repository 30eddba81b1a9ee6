import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { BackgroundLoop } from '../runtime/background-loop.js';
import { Database } from './database.js';
import { GroupCommit } from './group-commit.js';
import { remedyOf } from './session-settings.js';

/** Interval between two probes, in milliseconds. A probe opens one connection per pool. */
const INTERVAL_MS = 5_000;
/** Longest wait for the end of a probe at a stop, and for the server to close its connection, in milliseconds. */
const CLOSE_MS = 1_000;

/**
 * Finds settings that appear while the service runs, by opening new connections. Those that are open may keep the
 * previous settings for as long as they live.
 */
@Injectable()
export class SettingsProbe implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Database');
  private readonly loop = new BackgroundLoop({
    work: () => this.probe(),
    // A database that does not answer is reported where it is used.
    onError: () => undefined,
    intervalMs: INTERVAL_MS,
  });
  private logged = '';

  constructor(
    private readonly database: Database,
    private readonly groupCommit: GroupCommit,
  ) {}

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.loop.stop(CLOSE_MS);
  }

  private async probe(): Promise<void> {
    await Promise.allSettled([this.database.probe(CLOSE_MS), this.groupCommit.probe(CLOSE_MS)]);
    const mismatched = this.database.refusedSettings.current();
    const settings = mismatched.length === 0 ? '' : remedyOf(mismatched);
    if (settings === this.logged) return;
    this.logged = settings;
    if (settings)
      this.logger.warn({ msg: 'not ready: connections to PostgreSQL have other settings', settings });
    else this.logger.log({ msg: 'connections to PostgreSQL have the right settings again' });
  }
}
