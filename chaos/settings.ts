/** For each setting on which the meaning of statements depends, a value that the service cannot work with. */
export const OTHER_SETTINGS = {
  DateStyle: 'SQL, DMY',
  IntervalStyle: 'sql_standard',
  TimeZone: 'America/St_Johns',
  client_encoding: 'LATIN1',
  standard_conforming_strings: 'off',
  bytea_output: 'escape',
  extra_float_digits: '-15',
  array_nulls: 'off',
  default_transaction_isolation: 'serializable',
  default_transaction_read_only: 'on',
  default_transaction_deferrable: 'on',
  synchronous_commit: 'off',
  exit_on_error: 'on',
  search_path: 'pg_catalog',
  statement_timeout: '1ms',
  session_replication_role: 'replica',
} as const;
export type SettingName = keyof typeof OTHER_SETTINGS;

export const SETTING_NAMES = Object.keys(OTHER_SETTINGS) as SettingName[];

/** The settings that a connection can state itself, so that the service works with any other value of them. */
export const STATABLE = SETTING_NAMES.filter((name) => name !== 'session_replication_role');

/** Where PostgreSQL stores the settings of new connections. */
const SCOPES = {
  database: 'DATABASE croupier',
  role: 'ROLE postgres',
  'role in database': 'ROLE postgres IN DATABASE croupier',
} as const;
export type SettingsScope = keyof typeof SCOPES;

export const SETTINGS_SCOPES = Object.keys(SCOPES) as SettingsScope[];

export function changeStatements(scope: SettingsScope, names: readonly SettingName[]): string {
  return names.map((name) => `ALTER ${SCOPES[scope]} SET ${name} = '${OTHER_SETTINGS[name]}';`).join('\n');
}

export function resetStatement(scope: SettingsScope): string {
  return `ALTER ${SCOPES[scope]} RESET ALL`;
}
