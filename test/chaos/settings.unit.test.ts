import { expect, test } from 'vitest';
import { changeStatements, OTHER_SETTINGS, resetStatement, STATABLE } from '../../chaos/settings.js';
import { mismatchedSettings, startupOptions } from '../../src/database/session-settings.js';

test('every setting that the service needs has another value, with which the service does not work', () => {
  const needed = mismatchedSettings({}).map(({ name }) => name);
  const found = mismatchedSettings(OTHER_SETTINGS).map(({ name }) => name);
  expect(found).toEqual(needed);
});

test('the service states every setting that a connection can state', () => {
  const options = startupOptions(undefined);
  expect(STATABLE.filter((name) => !options.includes(`-c ${name}=`))).toEqual([]);
  expect(options).not.toContain('session_replication_role');
});

test('settings are changed and reset at the same place', () => {
  expect(changeStatements('role in database', ['TimeZone', 'DateStyle'])).toBe(
    "ALTER ROLE postgres IN DATABASE croupier SET TimeZone = 'America/St_Johns';\n" +
      "ALTER ROLE postgres IN DATABASE croupier SET DateStyle = 'SQL, DMY';",
  );
  expect(resetStatement('role in database')).toBe('ALTER ROLE postgres IN DATABASE croupier RESET ALL');
});
