import { monotonicMs } from '../runtime/clock.js';

/**
 * The settings on which the meaning of the service's statements depends, with the values that it needs, as PostgreSQL
 * shows them. Each connection states them, because a database, a role and postgresql.conf may have other values. A
 * pooler may drop what a connection states; ops/sql/pgbouncer.sql therefore sets them for the roles.
 */
const STATED: Readonly<Record<string, string>> = {
  // The text form of values, in both directions.
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  client_encoding: 'UTF8',
  standard_conforming_strings: 'on',
  bytea_output: 'hex',
  extra_float_digits: '1',
  array_nulls: 'on',
  // Conditional writes read the latest committed rows. A commit is durable, and an error does not end the connection.
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  default_transaction_deferrable: 'off',
  synchronous_commit: 'on',
  exit_on_error: 'off',
  // The schema of the tables.
  search_path: '"$user", public',
};

/** As `replica`, it disables triggers and foreign keys. Only a superuser may set it, so connections cannot state it. */
const CHECKED_ONLY: Readonly<Record<string, string>> = { session_replication_role: 'origin' };

const NEEDED = { ...STATED, ...CHECKED_ONLY };

/**
 * Values with the same meaning for the service as those above, which a role may have behind a pooler: other names of
 * UTC, and a stricter durability.
 */
const EQUIVALENT: Readonly<Record<string, readonly string[]>> = {
  TimeZone: ['Etc/UTC', 'GMT', 'Etc/GMT'],
  synchronous_commit: ['remote_apply'],
};

/** No time-outs but those that a connection states itself, for example in a migration, which may take long. */
const NO_TIMEOUTS = {
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
};

/**
 * The startup option `options` of a connection. Of repeated settings, the last one counts.
 * @param given further options, which override the time-outs and not the settings above
 */
export function startupOptions(given: string | undefined): string {
  return [optionsOf(NO_TIMEOUTS), given, optionsOf(STATED)].filter(Boolean).join(' ');
}

function optionsOf(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`)
    .join(' ');
}

/**
 * Selects the effective value of each setting, in one row with the settings' names as columns. Switches off
 * `transaction_timeout`, which exists since PostgreSQL 17: earlier versions refuse a connection that states it.
 */
export const EFFECTIVE_SETTINGS = `SELECT ${Object.keys(NEEDED)
  .map((name) => `current_setting('${name}') AS "${name}"`)
  .join(', ')},
  (SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'transaction_timeout') AS transaction_timeout`;

/** A setting with a value that differs from the one that the service needs. */
interface MismatchedSetting {
  readonly name: string;
  readonly value: string | undefined;
}

/** @param effective the row of `EFFECTIVE_SETTINGS` */
export function mismatchedSettings(effective: Readonly<Record<string, string>>): MismatchedSetting[] {
  return Object.keys(NEEDED)
    .map((name) => ({ name, value: effective[name] }))
    .filter(({ name, value = '' }) => value !== NEEDED[name] && !EQUIVALENT[name]?.includes(value));
}

/** What the settings are, what they must be and where to set them, in one line. */
export function remedyOf(mismatched: readonly MismatchedSetting[]): string {
  const found = mismatched.map(({ name, value }) => `${name} is '${value}' and must be '${NEEDED[name]}'`);
  return `${found.join(', ')} (see ops/sql/pgbouncer.sql)`;
}

/** The refusal of a connection whose statements would have another meaning; the message is one line. */
export class MismatchedSettingsError extends Error {
  constructor(mismatched: readonly MismatchedSetting[]) {
    super(`the settings of its connections: ${remedyOf(mismatched)}`);
  }
}

/**
 * How long a refused connection is remembered, in milliseconds: longer than two intervals of `SettingsProbe`, so that
 * a lasting fault is not forgotten in between.
 */
const REMEMBERED_MS = 12_000;

export class RefusedSettings {
  private refused: readonly MismatchedSetting[] = [];
  private untilMs = 0;

  report(mismatched: readonly MismatchedSetting[]): void {
    this.refused = mismatched;
    this.untilMs = monotonicMs() + REMEMBERED_MS;
  }

  /** Empty if no connection was refused lately. */
  current(): readonly MismatchedSetting[] {
    return monotonicMs() < this.untilMs ? this.refused : [];
  }
}
