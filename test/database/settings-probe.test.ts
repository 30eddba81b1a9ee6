import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Database } from '../../src/database/database.js';
import type { GroupCommit } from '../../src/database/group-commit.js';
import { RefusedSettings } from '../../src/database/session-settings.js';
import { SettingsProbe } from '../../src/database/settings-probe.js';
import { Background } from '../../src/runtime/background.js';

const INTERVAL_MS = 5_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'setInterval'] }));
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test('connections that cannot be opened do not count as ones with the right settings', async () => {
  const said: unknown[] = [];
  const say = (line: { msg: string }) => void said.push(line.msg);
  vi.spyOn(Logger.prototype, 'log').mockImplementation(say);
  vi.spyOn(Logger.prototype, 'warn').mockImplementation(say);
  const refusedSettings = new RefusedSettings();
  const refuse = () => {
    refusedSettings.report([{ name: 'DateStyle', value: 'German' }]);
    return Promise.reject(new Error('refused'));
  };
  const probe = vi.fn<() => Promise<void>>();
  const background = new Background();
  const groupCommit = { probe: () => Promise.resolve() } as unknown as GroupCommit;
  new SettingsProbe({ refusedSettings, probe } as unknown as Database, groupCommit, background);
  background.start();

  probe.mockImplementation(refuse);
  await vi.advanceTimersByTimeAsync(INTERVAL_MS);
  expect(said).toEqual(['not ready: connections to PostgreSQL have other settings']);

  probe.mockRejectedValue(new Error('the database cannot be reached'));
  await vi.advanceTimersByTimeAsync(4 * INTERVAL_MS);
  expect([probe.mock.calls.length, refusedSettings.current()]).toEqual([5, []]);
  expect(said).toHaveLength(1);

  probe.mockResolvedValue();
  await vi.advanceTimersByTimeAsync(INTERVAL_MS);
  expect(said.slice(1)).toEqual(['connections to PostgreSQL have the right settings again']);
  await background.stop();
});
