import { Injectable, Logger } from '@nestjs/common';
import { Background } from '../runtime/background.js';
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
export class SettingsProbe {
  private readonly logger = new Logger('Database');
  private logged = '';

  constructor(
    private readonly database: Database,
    private readonly groupCommit: GroupCommit,
    background: Background,
  ) {
    background.add({
      name: 'probe the settings of connections',
      intervalMs: INTERVAL_MS,
      stopMs: CLOSE_MS,
      work: () => this.probe(),
      // A database that does not answer is reported where it is used.
      onError: () => undefined,
    });
  }

  private async probe(): Promise<void> {
    const probes = await Promise.allSettled([
      this.database.probe(CLOSE_MS),
      this.groupCommit.probe(CLOSE_MS),
    ]);
    const mismatched = this.database.refusedSettings.current();
    // A connection that could not be opened says nothing about its settings.
    if (mismatched.length === 0 && probes.some(({ status }) => status === 'rejected')) return;
    const settings = mismatched.length === 0 ? '' : remedyOf(mismatched);
    if (settings === this.logged) return;
    this.logged = settings;
    if (settings)
      this.logger.warn({ msg: 'not ready: connections to PostgreSQL have other settings', settings });
    else this.logger.log({ msg: 'connections to PostgreSQL have the right settings again' });
  }
}
